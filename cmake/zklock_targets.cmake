# The flags of zklock's own targets. Nothing here affects a user of the library.

add_library(zklock_warnings INTERFACE)
target_compile_options(zklock_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${ZKLOCK_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # g++ 12 takes a coroutine's frame for a mismatch when it inlines half of it
  target_compile_options(zklock_warnings INTERFACE -Wno-mismatched-new-delete)
  # and warns of "x" + std::string (its bug 105651)
  target_compile_options(zklock_warnings INTERFACE $<$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>:-Wno-restrict>)
  if(ZKLOCK_UNITY OR CMAKE_UNITY_BUILD)  # it takes a file that another one includes for a header, whose classes must not be local
    target_compile_options(zklock_warnings INTERFACE -Wno-subobject-linkage)
  endif()
endif()

add_library(zklock_sanitizers INTERFACE)
if(ZKLOCK_SANITIZE)
  # No recovery: an error that is only printed does not fail a test. clang's "function" check misreads the resume
  # pointers of coroutines. Its checks of each pointer for null and for alignment take a third of the time to compile
  # with AddressSanitizer, which reports what is read or written through null; the fuzz targets keep both.
  target_compile_options(zklock_sanitizers INTERFACE -fsanitize=${ZKLOCK_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND ZKLOCK_SANITIZE MATCHES "undefined")
    target_compile_options(zklock_sanitizers INTERFACE -fno-sanitize=function)
    if(ZKLOCK_SANITIZE MATCHES "address" AND NOT ZKLOCK_BUILD_FUZZERS)
      target_compile_options(zklock_sanitizers INTERFACE -fno-sanitize=null,alignment)
    endif()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # g++ takes the code that a sanitizer adds for the program's own
    target_compile_options(zklock_sanitizers INTERFACE -Wno-maybe-uninitialized)
  endif()
  target_link_options(zklock_sanitizers INTERFACE -fsanitize=${ZKLOCK_SANITIZE})
  target_compile_definitions(zklock_sanitizers INTERFACE ZKLOCK_SANITIZED)  # test/support/repeats.hpp
  # The sanitizers' options, built into each executable.
  target_sources(zklock_sanitizers INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${CMAKE_CURRENT_LIST_DIR}/sanitizer_defaults.cpp>)
endif()

# The tests are forty programs of 64 megabytes on average: LLVM's linker, if the compiler has it, takes a third of the
# time at the most.
add_library(zklock_linker INTERFACE)
if(ZKLOCK_BUILD_TESTS AND NOT "${CMAKE_CXX_FLAGS} ${CMAKE_EXE_LINKER_FLAGS}" MATCHES "-flto|-fuse-ld")
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld ZKLOCK_HAS_LLD)
  if(ZKLOCK_HAS_LLD)
    target_link_options(zklock_linker INTERFACE -fuse-ld=lld)
  endif()
endif()

# The flags that all sources of zklock must have in common.
add_library(zklock_flags INTERFACE)
target_link_libraries(zklock_flags INTERFACE $<BUILD_INTERFACE:zklock_warnings> $<BUILD_INTERFACE:zklock_sanitizers>)
# What only deadline_timer needs, which nothing here has.
target_compile_definitions(zklock_flags INTERFACE BOOST_ASIO_DISABLE_BOOST_DATE_TIME)

# The headers that take the compiler longest, parsed once for all targets. Not for ccache, nor where a library and a
# program have different flags; with clang it has not been tried as a whole.
if(ZKLOCK_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT BUILD_SHARED_LIBS AND NOT CMAKE_POSITION_INDEPENDENT_CODE)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp CONTENT "")
  add_library(zklock_precompiled OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
  target_compile_features(zklock_precompiled PRIVATE cxx_std_20)
  set_target_properties(zklock_precompiled PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(zklock_precompiled PRIVATE zklock_flags Boost::headers Threads::Threads)
  target_precompile_headers(zklock_precompiled PRIVATE ${CMAKE_CURRENT_LIST_DIR}/precompiled.hpp)
endif()

# Applies the project's flags to a target of zklock, whose sources are compiled many at once: most of the time goes into
# the headers. Usage: zklock_house_rules(TARGET)
function(zklock_house_rules target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:zklock_flags> $<BUILD_INTERFACE:zklock_linker>)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  if(ZKLOCK_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 20)
  endif()
  if(TARGET zklock_precompiled)
    target_precompile_headers(${target} REUSE_FROM zklock_precompiled)
  endif()
endfunction()

# zklock_part(NAME OF library IN directory [USES part...] SOURCES file...)
#
# A layer or a family of a library: an OBJECT library with an include root of its own. It sees the private headers of
# the parts that it uses, and of the parts that those use; an include of a file in a higher layer finds no file. The
# library has the objects.
function(zklock_part name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OF;IN" "USES;SOURCES")
  list(TRANSFORM arg_SOURCES PREPEND "${arg_IN}/")
  add_library(${name} OBJECT ${arg_SOURCES})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name} PUBLIC ${arg_IN}
    PRIVATE $<TARGET_PROPERTY:${arg_OF},INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${name} PUBLIC ${arg_USES} PRIVATE Boost::headers Threads::Threads ${zklock_spdlog})
  if(BUILD_SHARED_LIBS)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  zklock_house_rules(${name})
  target_sources(${arg_OF} PRIVATE $<TARGET_OBJECTS:${name}>)
  set_property(GLOBAL APPEND PROPERTY zklock_parts ${name})
endfunction()

# For tests of private parts: gives TARGET their headers, not their objects. Usage: zklock_see_inside(TARGET part...)
function(zklock_see_inside target)
  foreach(part IN LISTS ARGN)
    target_include_directories(${target} PRIVATE $<TARGET_PROPERTY:${part},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
endfunction()

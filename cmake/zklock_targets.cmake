# What zklock's own targets are compiled with. Nothing here reaches a user of the library.

add_library(zklock_warnings INTERFACE)
target_compile_options(zklock_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${ZKLOCK_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # 12 takes a coroutine's frame for a mismatch when it inlines half of it
  target_compile_options(zklock_warnings INTERFACE -Wno-mismatched-new-delete)
endif()

add_library(zklock_sanitizers INTERFACE)
if(ZKLOCK_SANITIZE)
  # No recovery: an error that only prints does not fail a test. clang's "function" check misreads the resume pointers of
  # coroutines.
  target_compile_options(zklock_sanitizers INTERFACE -fsanitize=${ZKLOCK_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND ZKLOCK_SANITIZE MATCHES "undefined")
    target_compile_options(zklock_sanitizers INTERFACE -fno-sanitize=function)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # which takes the code that a sanitizer adds for the program's
    target_compile_options(zklock_sanitizers INTERFACE -Wno-maybe-uninitialized)
  endif()
  target_link_options(zklock_sanitizers INTERFACE -fsanitize=${ZKLOCK_SANITIZE})
  # Their options, built into each executable.
  target_sources(zklock_sanitizers INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${CMAKE_CURRENT_LIST_DIR}/sanitizer_defaults.cpp>)
endif()

# Headers that most files of a target include, compiled once, if ZKLOCK_PRECOMPILE_HEADERS: the sanitizers' builds take
# half the time with them. The others show that each file includes what it needs.
function(zklock_precompile target)
  if(ZKLOCK_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# Applies the house's flags to a target of ours. Usage: zklock_house_rules(TARGET)
function(zklock_house_rules target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:zklock_warnings> $<BUILD_INTERFACE:zklock_sanitizers>)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

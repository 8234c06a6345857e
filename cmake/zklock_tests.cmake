# Makes the tests of a Catch2 program known to ctest.
include(Catch)

# zklock_join_tests(TARGET)
#
# Lets a unity build (ZKLOCK_UNITY) compile many test files at once: each is put into a namespace of its own, so
# that its helpers may have the names of another file's. What the files include comes first, outside of these
# namespaces. A file that opens a named namespace, or specializes a template of one, is compiled alone, and so is one
# without tests.
function(zklock_join_tests target)
  get_target_property(joined ${target} UNITY_BUILD_UNIQUE_ID)
  if(NOT ZKLOCK_UNITY OR joined)
    return()
  endif()
  set(includes)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    file(READ ${source} text)
    if(NOT source MATCHES "_test\\.cpp$" OR text MATCHES "\n(inline )?namespace [A-Za-z:]+ {|\n(template <>[^;{]*|struct [a-z_]+)::")
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} lines REGEX "^#include ")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"(.*)\"$" "\\1" header "${line}")
      if(EXISTS ${folder}/${header})  # beside the file
        set(line "#include \"${folder}/${header}\"")
      endif()
      list(APPEND includes "${line}")
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES includes)
  list(JOIN includes "\n" includes)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_includes.hpp)
  file(CONFIGURE OUTPUT ${file} CONTENT "#pragma once\n${includes}\n" @ONLY)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD_UNIQUE_ID ZKLOCK_TEST_FILE
    UNITY_BUILD_CODE_BEFORE_INCLUDE "#include \"${file}\"\nnamespace ZKLOCK_TEST_FILE {"
    UNITY_BUILD_CODE_AFTER_INCLUDE "}")
endfunction()

# zklock_keep_threaded_tests(TARGET)
#
# Leaves to TARGET those of its test files that start threads beside the client's own.
function(zklock_keep_threaded_tests target)
  get_target_property(sources ${target} SOURCES)
  set(kept)
  foreach(source IN LISTS sources)
    file(STRINGS ${source} threads REGEX "std::j?thread|std::async|thread_pool|Threads" LIMIT_COUNT 1)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    if(threads OR NOT source MATCHES "_test\\.cpp$")
      list(APPEND kept ${source})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${kept}")
endfunction()

# zklock_discover_tests(TARGET LABEL label [TIMEOUT seconds] [SPEC test-spec] [PROPERTIES name value...])
#
# Each case is a test and a process of its own. But of the labels integration, faults and timing, and with a sanitizer,
# each source file is one test, which may take ten minutes, and its cases share the servers: otherwise a run would spend
# its time on starting a JVM for each case. Unless told otherwise, the files with the most cases come first.
#
# Of such a program a case belongs to the label whose tag it has: [faults] or [timing], or else to the other labels. Those
# of timing have a limit of real time, so they run alone.
#
# A title must not have a semicolon: CMake would take it for two tests, neither of which exists, and both would pass.
#
# The target zklock_<label>_tests builds the programs of a label.
function(zklock_discover_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT;SPEC" "PROPERTIES")
  if(NOT TARGET zklock_${arg_LABEL}_tests)
    add_custom_target(zklock_${arg_LABEL}_tests)
  endif()
  add_dependencies(zklock_${arg_LABEL}_tests ${target})
  zklock_join_tests(${target})
  if(NOT ZKLOCK_SANITIZE AND NOT arg_LABEL MATCHES "^(integration|faults|timing)$")
    catch_discover_tests(${target} TEST_SPEC ${arg_SPEC} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ${arg_PROPERTIES})
    return()
  endif()
  set(no_tests --warn NoTests)  # a file without a case fails
  if(TARGET Catch2::Catch2WithMain)
    set(no_tests)  # in version 3 it does so by itself
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "_test\\.cpp$")
  foreach(source IN LISTS sources)
    get_filename_component(file ${source} NAME_WE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})  # for the first case of a label
    file(READ ${source} text)
    string(REGEX REPLACE "\\[(faults|timing)\\]" "<\\1>" text "${text}")
    string(REGEX REPLACE "[][;]" " " text "${text}")  # which mean something in a list
    string(REGEX MATCHALL "(TEST_CASE|CONTRACT\\()[^{]*" cases "${text}")
    if(arg_SPEC MATCHES "^\\[([a-z]+)\\]$")
      list(FILTER cases INCLUDE REGEX "<${CMAKE_MATCH_1}>")
    elseif(arg_SPEC)
      list(FILTER cases EXCLUDE REGEX "<(faults|timing)>")
    endif()
    if(cases)
      add_test(NAME "${arg_LABEL}: ${file}"
        COMMAND ${target} --filenames-as-tags ${no_tests} --durations yes "[#${file}]${arg_SPEC}")
      list(LENGTH cases number)
      set_tests_properties("${arg_LABEL}: ${file}"
        PROPERTIES LABELS ${arg_LABEL} TIMEOUT 600 COST ${number} ${arg_PROPERTIES})
    endif()
  endforeach()
endfunction()

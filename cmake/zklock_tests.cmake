# Makes the tests of a Catch2 program known to ctest.
include(Catch)

# zklock_discover_tests(TARGET LABEL label [TIMEOUT seconds] [SPEC test-spec] [PROPERTIES name value...])
#
# Each case is a test and a process of its own, with its own servers. With a sanitizer each source file is one test, and
# its cases share the servers: otherwise such a run would spend its time on starting a JVM for each case.
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
  if(NOT ZKLOCK_SANITIZE)
    catch_discover_tests(${target} TEST_SPEC ${arg_SPEC} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ${arg_PROPERTIES})
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "_test\\.cpp$")
  foreach(source IN LISTS sources)
    get_filename_component(file ${source} NAME_WE)
    file(READ ${source} text)
    string(REPLACE "[faults]" "<faults>" text "${text}")
    string(REGEX REPLACE "[][;]" " " text "${text}")  # which mean something in a list
    string(REGEX MATCHALL "(TEST_CASE|CONTRACT\\()[^{]*" cases "${text}")
    if(arg_SPEC STREQUAL "[faults]")
      list(FILTER cases INCLUDE REGEX "<faults>")
    elseif(arg_SPEC STREQUAL "~[faults]")
      list(FILTER cases EXCLUDE REGEX "<faults>")
    endif()
    if(cases)
      add_test(NAME "${arg_LABEL}: ${file}" COMMAND ${target} --filenames-as-tags --durations yes "[#${file}]${arg_SPEC}")
      set_tests_properties("${arg_LABEL}: ${file}" PROPERTIES LABELS ${arg_LABEL} TIMEOUT 600 ${arg_PROPERTIES})
    endif()
  endforeach()
endfunction()

# Checks that zklock can be configured with nothing but what its libraries need, and that the result is what a user
# wants. Compiles nothing.
# Usage (test/CMakeLists.txt): cmake -DSOURCE_DIR=... -DWORK_DIR=... -DCXX_COMPILER=... -P configure.cmake
#
# With the preset `install`, and without any preset.
file(REMOVE_RECURSE "${WORK_DIR}")
unset(ENV{CXXFLAGS})  # the build of a package sets it

foreach(how IN ITEMS install none)
  set(preset "")
  if(how STREQUAL "install")
    set(preset --preset install)
  endif()
  execute_process(COMMAND "${CMAKE_COMMAND}" ${preset} -G Ninja -S "${SOURCE_DIR}" -B "${WORK_DIR}/${how}"
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON -DCMAKE_DISABLE_FIND_PACKAGE_PrometheusCpp=ON COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)

  file(READ "${WORK_DIR}/${how}/compile_commands.json" commands)
  string(JSON entries LENGTH "${commands}")
  math(EXPR last "${entries} - 1")
  foreach(entry RANGE ${last})
    string(JSON file GET "${commands}" ${entry} file)
    string(JSON command GET "${commands}" ${entry} command)
    string(REPLACE "${WORK_DIR}/${how}/" "${SOURCE_DIR}/" file "${file}")  # of a unity build
    file(RELATIVE_PATH file "${SOURCE_DIR}" "${file}")
    if(NOT file MATCHES "^(zklock|recipes|observe)/")
      message(FATAL_ERROR "a user who wants the libraries compiles ${file}, too")
    endif()
    if(command MATCHES " (-Werror|-g[0-9]?)( |$)" OR NOT command MATCHES " -O[23] ")
      message(FATAL_ERROR "not as a user wants it (${CMAKE_MATCH_1}): ${command}")
    endif()
  endforeach()
endforeach()

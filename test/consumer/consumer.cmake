# Checks that zklock is usable as its README says. Builds the README's program as a user would, runs it, and looks at
# the flags that it was compiled with.
# Usage (test/CMakeLists.txt): cmake -DHOW=installed|subdirectory -D... -P consumer.cmake
#
#   installed      the README's own CMakeLists.txt, on this build tree installed into a prefix of its own
#   subdirectory   zklock compiled as a part of the user's project
#
# Everything is written below WORK_DIR; the source tree may be read-only.
include("${CMAKE_CURRENT_LIST_DIR}/readme.cmake")

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
extract_from_readme(cpp "${WORK_DIR}/source/main.cpp")
set(settings "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
  "-DCMAKE_CXX_FLAGS_DEBUG=${CXX_FLAGS_DEBUG}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)

if(HOW STREQUAL "installed")
  extract_from_readme(cmake "${WORK_DIR}/source/CMakeLists.txt")
  set(project "${WORK_DIR}/source")
  configure_file("${SOURCE_DIR}/test/consumer/audited.cpp" "${WORK_DIR}/source/audited.cpp" COPYONLY)
  file(APPEND "${WORK_DIR}/source/CMakeLists.txt"
    "add_executable(audited audited.cpp)\ntarget_link_libraries(audited PRIVATE zklock::audit)\n")
  run("${CMAKE_COMMAND}" --install "${BINARY_DIR}" --config "${BUILD_TYPE}" --prefix "${WORK_DIR}/prefix")
  list(APPEND settings "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix")
else()
  set(project "${SOURCE_DIR}/test/consumer/subdirectory")
  list(APPEND settings "-DZKLOCK_SOURCE_DIR=${SOURCE_DIR}" "-DREADME_PROGRAM=${WORK_DIR}/source/main.cpp")
endif()

run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${project}" -B "${WORK_DIR}/build" ${settings})
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build" --target shop)
if(HOW STREQUAL "installed")
  run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build" --target audited)
  run("${WORK_DIR}/build/audited" "${WORK_DIR}/audit.json")
endif()

# Nothing of zklock's own build may reach the user's compiler: no flag, and no path of this tree's private headers.
file(READ "${WORK_DIR}/build/compile_commands.json" commands)
string(JSON entries LENGTH "${commands}")
math(EXPR last "${entries} - 1")
set(seen FALSE)
foreach(entry RANGE ${last})
  string(JSON file GET "${commands}" ${entry} file)
  string(JSON command GET "${commands}" ${entry} command)
  string(REPLACE "${CXX_FLAGS}" "" command "${command}")
  if(command MATCHES " -Werror")
    message(FATAL_ERROR "warnings are errors for a user of zklock: ${command}")
  endif()
  if(file STREQUAL "${WORK_DIR}/source/main.cpp")
    set(seen TRUE)
    if(command MATCHES " -W[a-z]| -fsanitize| -fno-|/src( |$)")
      message(FATAL_ERROR "what is zklock's own reaches its user: ${CMAKE_MATCH_0} in ${command}")
    endif()
  endif()
endforeach()
if(NOT seen)
  message(FATAL_ERROR "compile_commands.json does not name the README's program")
endif()

if(HOW STREQUAL "installed")
  file(GLOB_RECURSE license "${WORK_DIR}/prefix/share/doc/*/LICENSE")
  if(NOT license)
    message(FATAL_ERROR "the license is not installed")
  endif()
  file(GLOB_RECURSE package "${WORK_DIR}/prefix/*.cmake")
  foreach(file IN LISTS package)
    file(READ "${file}" text)
    string(REPLACE "${WORK_DIR}/prefix" "" text "${text}")
    foreach(leak IN ITEMS "${SOURCE_DIR}/" "${BINARY_DIR}/" " -W" "-fsanitize")
      string(FIND "${text}" "${leak}" found)
      if(NOT found EQUAL -1)
        message(FATAL_ERROR "${file} contains ${leak}")
      endif()
    endforeach()
  endforeach()
endif()

execute_process(COMMAND "${WITH_SERVER}" "${WORK_DIR}/build/shop" OUTPUT_VARIABLE output ECHO_OUTPUT_VARIABLE
  ECHO_ERROR_VARIABLE COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "token [1-9][0-9]*\n")
  message(FATAL_ERROR "the README's program did not print a fencing token")
endif()

# A component that needs more than zklock itself is there only for those who name it.
if(HOW STREQUAL "installed" AND METRICS)
  set(metered "${WORK_DIR}/metered")
  run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${SOURCE_DIR}/test/consumer/metrics" -B "${metered}" ${settings})
  run("${CMAKE_COMMAND}" --build "${metered}")
  execute_process(COMMAND "${metered}/metered" OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  if(NOT text MATCHES "zklock_build_info{version=\"[0-9.]+\"} 1\n")
    message(FATAL_ERROR "the program with metrics has printed none: ${text}")
  endif()
  execute_process(COMMAND ldd "${metered}/metered" OUTPUT_VARIABLE libraries COMMAND_ERROR_IS_FATAL ANY)
  if(libraries MATCHES "prometheus|civetweb|curl")
    message(FATAL_ERROR "the program with metrics needs more than zklock: ${libraries}")
  endif()
  file(STRINGS "${WORK_DIR}/build/CMakeCache.txt" without REGEX "PrometheusCpp")
  if(without)
    message(FATAL_ERROR "a program without metrics has looked for prometheus-cpp: ${without}")
  endif()
endif()

# install(): the libraries, their headers, the program, and the package that find_package(zklock) reads.
if(NOT ZKLOCK_INSTALL)
  return()
endif()

include(CMakePackageConfigHelpers)

set(zklock_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/zklock")

install(TARGETS zklock zklock_support zklock_locks zklock_ledger zklock_counters zklock_leader zklock_barriers zklock_follow zklock_caches zklock_shared
  zklock_nodes zklock_worker_ids zklock_recipes zklock_test_server zklock_testing EXPORT zklockTargets FILE_SET HEADERS)
if(TARGET zklock_audit)
  install(TARGETS zklock_audit EXPORT zklockTargets FILE_SET HEADERS)
endif()
install(EXPORT zklockTargets NAMESPACE zklock:: DESTINATION "${zklock_package_dir}")
if(ZKLOCK_BUILD_METRICS)
  install(TARGETS zklock_metrics EXPORT zklockMetricsTargets FILE_SET HEADERS)
  install(EXPORT zklockMetricsTargets NAMESPACE zklock:: DESTINATION "${zklock_package_dir}")
  install(FILES cmake/FindPrometheusCpp.cmake DESTINATION "${zklock_package_dir}")
endif()
if(ZKLOCK_BUILD_TOOLS)
  install(TARGETS zklock_program)
endif()

install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

configure_package_config_file(cmake/zklockConfig.cmake.in "${PROJECT_BINARY_DIR}/zklockConfig.cmake"
  INSTALL_DESTINATION "${zklock_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/zklockConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/zklockConfig.cmake" "${PROJECT_BINARY_DIR}/zklockConfigVersion.cmake"
  cmake/FindZooKeeper.cmake DESTINATION "${zklock_package_dir}")

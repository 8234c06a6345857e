# Finds the headers of prometheus-cpp's core (Debian: prometheus-cpp-dev). zklock calls nothing of its libraries; its own
# CMake package would want civetweb, curl and zlib as well.
#
#   PrometheusCpp::headers
find_path(PrometheusCpp_INCLUDE_DIR prometheus/collectable.h)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PrometheusCpp REQUIRED_VARS PrometheusCpp_INCLUDE_DIR)

if(PrometheusCpp_FOUND AND NOT TARGET PrometheusCpp::headers)
  add_library(PrometheusCpp::headers INTERFACE IMPORTED)
  set_target_properties(PrometheusCpp::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${PrometheusCpp_INCLUDE_DIR}")
endif()
mark_as_advanced(PrometheusCpp_INCLUDE_DIR)

#include "support/catch.hpp"

#include <zklock/recipes/locks/lock_path.hpp>

#include <boost/system/system_error.hpp>

#include <string>

using zklock::LockError;

TEST_CASE("a lock path is a path that can be a lock's directory") {
  struct Row {
    const char* name;
    std::string path;
    std::string reason;  ///< a part of it, or empty when the path is good
  };
  const Row rows[] = {
      {"ordinary", "/locks/orders", ""},
      {"1000 bytes", "/" + std::string(999, 'x'), ""},
      {"named almost like the server's", "/zookeeper2", ""},
      {"zookeeper further down", "/app/zookeeper", ""},
      {"1001 bytes", "/" + std::string(1000, 'x'), "1000 bytes"},
      {"the root", "/", "root"},
      {"the server's own", "/zookeeper", "server's own"},
      {"under the server's own", "/zookeeper/quota", "server's own"},
      {"no path at all", "locks", "starts with '/'"},
      {"an empty component", "/a//b", "byte 3"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    if (row.reason.empty()) {
      CHECK_NOTHROW(zklock::validate_lock_path(row.path));
      continue;
    }
    try {
      zklock::validate_lock_path(row.path);
      FAIL_CHECK("accepted");
    } catch (const boost::system::system_error& error) {
      CHECK(error.code() == LockError::invalid_lock_path);
      CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring(row.reason));
    }
  }
}

// The ZooKeeper that an example connects to.
#pragma once

#include <zklock/testing/test_server.hpp>

#include <cstdlib>
#include <optional>
#include <string>

namespace example {

/// The one that $ZKLOCK_CONNECT names, else a temporary server that lives as long as this object.
class Ensemble {
 public:
  Ensemble() {
    if (const char* given = std::getenv("ZKLOCK_CONNECT"); given != nullptr && *given != '\0')
      connect_string_ = given;
    else
      connect_string_ = server_.emplace().connect_string();
  }

  [[nodiscard]] const std::string& connect_string() const { return connect_string_; }

 private:
  std::optional<zklock::testing::TestServer> server_;
  std::string connect_string_;
};

}  // namespace example

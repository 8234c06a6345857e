// The ZooKeeper that the command line names.
#pragma once

#include "options.hpp"

#include <zklock/client.hpp>
#include <zklock/testing/test_server.hpp>

#include <optional>

namespace zklock::tools {

/// Where to connect to, and the server behind it if it is our own: it lives as long as this object.
class Connection {
 public:
  /// Throws Failure when nothing says where, std::runtime_error when our own server does not start.
  explicit Connection(const Where& where);

  [[nodiscard]] const std::string& connect_string() const noexcept { return connect_; }
  [[nodiscard]] ClientConfig config(std::chrono::milliseconds session_timeout) const;

 private:
  std::optional<testing::TestServer> server_;
  std::string connect_;
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace zklock::tools

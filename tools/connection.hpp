// The ZooKeeper that the command line names.
#pragma once

#include "failure.hpp"
#include "options.hpp"

#include <zklock/client.hpp>
#include <zklock/testing/test_server.hpp>

#include <boost/system/system_error.hpp>

#include <optional>

namespace zklock::tools {

/// The address to connect to, and the program's own server behind it, if there is one: it lives as long as this object.
class Connection {
 public:
  /// Throws Failure when there is no address, or the credentials are malformed; std::runtime_error when the program's
  /// own server does not start.
  explicit Connection(const Where& where);

  [[nodiscard]] const std::string& connect_string() const noexcept { return connect_; }
  [[nodiscard]] ClientConfig config(std::chrono::milliseconds session_timeout) const;

  /// Runs `body` on a client of a short-lived session, and gives what `body(client)` gives. Throws Failure when there
  /// is no connection.
  template <class Body>
  auto with_client(Body body) const {
    const Client client{config(std::chrono::seconds{10})};
    try {
      return body(client);
    } catch (const boost::system::system_error& error) {
      if (error.code() != Error::not_connected) throw;
      throw unreachable(client);
    }
  }
  /// A Failure with what the client knows of the reason.
  [[nodiscard]] Failure unreachable(const ClientHandle& client) const;

 private:
  std::optional<testing::TestServer> server_;
  std::string connect_;
  std::vector<AuthInfo> auth_;
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace zklock::tools

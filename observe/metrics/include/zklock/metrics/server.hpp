// A small HTTP server for metrics and health checks.
#pragma once

#include <zklock/client.hpp>
#include <zklock/metrics/metrics.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zklock::metrics {

/// Used with designated initialisers.
struct ServerOptions {
  /// A numeric address of this machine; "0.0.0.0" or "::" for all of them.
  std::string host = "127.0.0.1";
  /// 0 takes one that is free.
  std::uint16_t port = 0;
  /// Names by which the server is asked. Numeric addresses and "localhost" need no mention: a page of another site that
  /// has its name point here ("DNS rebinding") does not come by those.
  std::vector<std::string> allowed_hosts{};
  std::size_t max_connections = 64;
  /// For a request to come in, and for a reply to go out. Then the connection ends.
  std::chrono::milliseconds request_time{10'000};
};

/// Serves on the executor:
///
///   /metrics           Metrics::text()
///   /livez             200 as long as the I/O of each client runs: it never asks ZooKeeper
///   /readyz, /healthz  200 if each client is connected, else 503; health_text()
///
///   zklock::metrics::Server server{executor, metrics, {client}, {.port = 9178}};
///
/// It keeps the Metrics, and handles of the clients. The destructor ends it without waiting: what is under way may ask a
/// client's executor for up to a second more. So the server's executor has to come to its end, such as by
/// thread_pool::join(), before a client's executor is destroyed.
///
/// Threads: any thread may call anything but the destructor.
class Server {
 public:
  /// Listens. Throws std::invalid_argument if the host is not an address or a limit is 0, and boost::system::system_error if it cannot
  /// listen there.
  Server(const boost::asio::any_io_executor& executor, std::shared_ptr<const Metrics> metrics,
         std::vector<ClientHandle> clients, ServerOptions options = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The body of /readyz, for a program's own server: a line of JSON. Null is what is not known. Of several clients it
/// shows the worst values.
[[nodiscard]] std::string health_text(const Metrics& metrics, const std::vector<ClientHandle>& clients);

/// Whether each client is connected: the status of /readyz is 200 then, and 503 otherwise.
[[nodiscard]] bool is_ready(const std::vector<ClientHandle>& clients);

}  // namespace zklock::metrics

// A small HTTP server: for the dashboard and its events, and for metrics and health checks.
#pragma once

#include "web.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

namespace zklock::web {

struct HttpLimits {
  std::size_t connections = 64;
  std::size_t streams = 32;
  std::uint32_t header_bytes = 8 * 1024;
  std::uint64_t body_bytes = 4 * 1024;
  std::chrono::milliseconds request_time{10'000};    ///< for a request to come in, and for a reply to go out
  std::chrono::milliseconds stream_pause{250};       ///< between two writes of a stream
  std::chrono::milliseconds stream_silence{15'000};  ///< then a comment is written: proxies end silent connections
};

/// Serves `handler`. What it has begun keeps it alive until stop(). Each stream has one write under way; while it lasts,
/// what is new gathers in its source; a write that has not ended after HttpLimits::request_time ends the stream. If all
/// connections are in use, a new one replaces the one that has been silent for the longest time, or else one that does
/// not take its reply.
///
/// Threads: that of the executor, which must run one function at a time; but port(), any.
class HttpServer : public std::enable_shared_from_this<HttpServer> {
 public:
  /// Listens. Throws std::invalid_argument if `host` is not an address, and boost::system::system_error if it cannot
  /// listen there. Port 0 takes one that is free.
  HttpServer(const boost::asio::any_io_executor& executor, const std::string& host, std::uint16_t port,
             std::shared_ptr<WebHandler> handler, HttpLimits limits = {});

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  void start();
  /// Accepts no more connections, and ends those that there are; is_idle() tells when they have ended.
  void stop();
  [[nodiscard]] bool is_idle() const noexcept { return open_.empty(); }

 private:
  struct Connection {
    enum class Phase : std::uint8_t { awaits_request, replies, streams, ends };
    boost::beast::tcp_stream stream;
    Phase phase = Phase::awaits_request;
  };
  using Connections = std::list<Connection>;

  static boost::asio::awaitable<void> accept(std::shared_ptr<HttpServer> self);
  static boost::asio::awaitable<void> serve(std::shared_ptr<HttpServer> self, Connections::iterator connection);
  boost::asio::awaitable<void> converse(Connection& connection);
  boost::asio::awaitable<void> send_events(boost::beast::tcp_stream& stream, EventSource& source);
  [[nodiscard]] bool make_room();
  void move_to_end(Connection& connection);

  std::shared_ptr<WebHandler> handler_;
  HttpLimits limits_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::uint16_t port_;
  Connections open_;  // the one that has been without a reply for the longest time first
  bool stopping_ = false;
  std::size_t streams_ = 0;
};

}  // namespace zklock::web

// A link to a server that can be held and cut.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace zklock::test {

/// Forwards connections to a port of 127.0.0.1 until told otherwise. Runs a thread of its own.
class Proxy {
 public:
  explicit Proxy(std::uint16_t server_port);
  ~Proxy();
  Proxy(const Proxy&) = delete;

  [[nodiscard]] std::string address() const;
  /// From now on what the server says does not arrive; what is said to it does.
  void hold_replies() { holding_ = true; }
  /// Cuts all connections; what was held is lost. New ones work again.
  void cut();
  [[nodiscard]] int connections() const { return connections_; }

 private:
  using tcp = boost::asio::ip::tcp;
  struct Link;

  void accept();

  boost::asio::io_context context_;
  tcp::acceptor acceptor_;
  tcp::endpoint server_;
  std::vector<std::weak_ptr<Link>> links_;
  std::atomic<bool> holding_{false};
  std::atomic<int> connections_{0};
  std::thread thread_;
};

}  // namespace zklock::test

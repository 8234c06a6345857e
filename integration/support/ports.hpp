// Ports that misbehave.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <sys/socket.h>

namespace zklock::test {

/// A port of 127.0.0.1 that is bound and does not listen: connections are refused for as long as this lives.
class RefusingPort {
 public:
  RefusingPort() : socket_{context_, tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}} {}
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(socket_.local_endpoint().port()); }

 private:
  using tcp = boost::asio::ip::tcp;
  boost::asio::io_context context_;
  tcp::socket socket_;
};

/// A port whose connections the kernel accepts, and that never answers.
class SilentPort {
 public:
  SilentPort() : acceptor_{context_, tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}} {}
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }

 private:
  using tcp = boost::asio::ip::tcp;
  boost::asio::io_context context_;
  tcp::acceptor acceptor_;
};

/// A port that closes each connection as soon as it has accepted it, and counts them. Runs a thread of its own.
class SlammingPort {
 public:
  SlammingPort() : acceptor_{context_, tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}} {
    accept();
    thread_ = std::thread{[this] { context_.run(); }};
  }
  ~SlammingPort() {
    context_.stop();
    thread_.join();
  }
  SlammingPort(const SlammingPort&) = delete;
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  using tcp = boost::asio::ip::tcp;
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, tcp::socket) {
      if (error) return;
      ++connections_;
      accept();
    });
  }

  boost::asio::io_context context_;
  tcp::acceptor acceptor_;
  std::atomic<int> connections_{0};
  std::thread thread_;
};

/// A port that never answers at all: its queue of connections is full, so the kernel drops new connections.
class BlackHolePort {
 public:
  BlackHolePort() : acceptor_{context_} {
    acceptor_.open(tcp::v4());
    acceptor_.bind({boost::asio::ip::address_v4::loopback(), 0});
    acceptor_.listen(0);
    for (int i = 0; i < 4; ++i) {
      fillers_.emplace_back(context_, tcp::v4()).native_non_blocking(true);
      const auto endpoint = acceptor_.local_endpoint();
      static_cast<void>(::connect(fillers_.back().native_handle(), endpoint.data(),
                                  static_cast<socklen_t>(endpoint.size())));  // in progress
    }
  }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }

 private:
  using tcp = boost::asio::ip::tcp;
  boost::asio::io_context context_;
  tcp::acceptor acceptor_;
  std::vector<tcp::socket> fillers_;
};

}  // namespace zklock::test

// A server that treats every connection as one of a new client.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace zklock::test {

/// Grants each connection a session of its own, 1, 2, ..., and answers nothing else. Runs a thread of its own.
class ForgetfulServer {
 public:
  explicit ForgetfulServer(std::chrono::milliseconds timeout = std::chrono::seconds{6})
      : timeout_{static_cast<std::uint16_t>(timeout.count())},
        acceptor_{context_, tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}} {
    accept();
    thread_ = std::thread{[this] { context_.run(); }};
  }
  ~ForgetfulServer() {
    context_.stop();
    thread_.join();
  }
  ForgetfulServer(const ForgetfulServer&) = delete;

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
  /// The connections that were greeted.
  [[nodiscard]] int connections() const { return connections_; }
  /// Ends all connections.
  void hang_up() {
    std::promise<void> done;
    boost::asio::post(context_, [&] {
      links_.clear();
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  using tcp = boost::asio::ip::tcp;
  struct Link {
    explicit Link(tcp::socket s) : socket{std::move(s)} {}
    tcp::socket socket;
    std::array<unsigned char, 49> request{};  // a length and ConnectRequest
    std::array<unsigned char, 41> reply{};    // a length and ConnectResponse
  };

  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error) return;
      links_.push_back(std::make_shared<Link>(std::move(socket)));
      greet(links_.back());
      accept();
    });
  }
  void greet(const std::shared_ptr<Link>& link) {
    boost::asio::async_read(link->socket, boost::asio::buffer(link->request),
                            [this, link](boost::system::error_code error, std::size_t) {
                              if (error) return;
                              link->reply[3] = 37;
                              link->reply[10] = static_cast<unsigned char>(timeout_ >> 8);  // in ms
                              link->reply[11] = static_cast<unsigned char>(timeout_ & 0xff);
                              const int session = ++connections_;
                              link->reply[18] = static_cast<unsigned char>(session >> 8);
                              link->reply[19] = static_cast<unsigned char>(session & 0xff);
                              link->reply[23] = 16;  // the password's length
                              boost::asio::async_write(link->socket, boost::asio::buffer(link->reply),
                                                       [link](boost::system::error_code, std::size_t) {});
                            });
  }

  std::uint16_t timeout_;
  boost::asio::io_context context_;
  tcp::acceptor acceptor_;
  std::vector<std::shared_ptr<Link>> links_;
  std::atomic<int> connections_{0};
  std::thread thread_;
};

}  // namespace zklock::test

// Asks an HTTP server on this machine.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>

#include <poll.h>

namespace zklock::test {

struct HttpReply {
  int status = 0;  ///< 0: the connection was refused, or has ended without a reply
  std::string headers{};
  std::string body{};
};

/// A connection of a test, which says what it likes.
class HttpConnection {
 public:
  explicit HttpConnection(std::uint16_t port) {
    stream_.expires_after(std::chrono::seconds{30});
    stream_.connect("127.0.0.1", std::to_string(port));
  }
  void say(const std::string& text) { stream_ << text << std::flush; }
  /// Whether the server has ended the connection, which this end has not read to its end.
  [[nodiscard]] bool is_cut() {
    pollfd request{stream_.socket().native_handle(), POLLRDHUP, 0};
    return ::poll(&request, 1, 0) == 1;
  }
  /// What comes, up to that text and with it. Empty if it does not come.
  [[nodiscard]] std::string until(const std::string& text) {
    std::string all;
    for (char next = 0; !all.ends_with(text) && stream_.get(next);) all += next;
    return all.ends_with(text) ? all : std::string{};
  }
  /// All that comes until the server ends the connection.
  [[nodiscard]] HttpReply rest() {
    const std::string text{std::istreambuf_iterator<char>{stream_}, {}};
    if (stream_.error() == boost::asio::error::timed_out) throw std::runtime_error{"waited in vain for a reply"};
    const auto end = text.find("\r\n\r\n");
    if (!text.starts_with("HTTP/1.1 ") || end == text.npos) return {};
    return {std::stoi(text.substr(9, 3)), text.substr(0, end), text.substr(end + 4)};
  }

 private:
  boost::asio::ip::tcp::iostream stream_;
};

inline HttpReply http_get(std::uint16_t port, const std::string& path, const std::string& host = "127.0.0.1",
                          const std::string& method = "GET") {
  HttpConnection connection{port};
  connection.say(method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
  return connection.rest();
}

}  // namespace zklock::test

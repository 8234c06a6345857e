// The resource that the locks protect: one thread, one clock, two registers.
#pragma once

#include "record.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace zklock::chaos {

/// How a user shares what the lock protects.
enum class Share { alone, with_readers, permit };

/// Decides which tokens of one lock are too old. Permits have no order.
class TokenRegister {
 public:
  /// False: a user with a greater token has been here, for which this one should have waited or made way.
  [[nodiscard]] bool accept(std::int64_t token, Share share);

 private:
  std::int64_t greatest_ = 0;         // of all users
  std::int64_t greatest_writer_ = 0;  // of those that were alone
};

/// Lets in each user that comes with a valid token, and notes which user is inside when.
///
/// A line of a request: "enter LOCK TOKEN SHARE PROCESS OPERATION" or "leave LOCK TOKEN", answered by "yes" or "no". A
/// user that hangs up has left.
class Register {
 public:
  explicit Register(const std::filesystem::path& log);
  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  /// Runs until the process is killed.
  void run();

 private:
  struct Visitor;
  using tcp = boost::asio::ip::tcp;
  void accept();

  boost::asio::io_context context_{1};
  tcp::acceptor acceptor_;
  Log log_;
  std::map<std::string, TokenRegister> tokens_;
};

/// A user's connection to the register, blocking.
class Access {
 public:
  Access(std::uint16_t port, int process);

  [[nodiscard]] bool enter(const std::string& lock, std::int64_t token, Share share, std::int64_t operation);
  void leave(const std::string& lock, std::int64_t token);

 private:
  [[nodiscard]] bool ask(const std::string& line);

  int process_;
  boost::asio::io_context context_;
  boost::asio::ip::tcp::socket socket_{context_};
  std::string unread_;
};

}  // namespace zklock::chaos

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

/// Which tokens are too old. Of one lock; permits have no order.
class TokenRegister {
 public:
  /// False: somebody with a greater token has been here, whom this one should have waited for or made way for.
  [[nodiscard]] bool accept(std::int64_t token, Share share);

 private:
  std::int64_t greatest_ = 0;         // of all
  std::int64_t greatest_writer_ = 0;  // of those who were alone
};

/// Lets in whoever comes with a good token, and notes who is inside when.
///
/// A line of a request: "enter LOCK TOKEN SHARE PROCESS OPERATION" or "leave LOCK TOKEN", answered by "yes" or "no".
/// Who hangs up has left.
class Register {
 public:
  explicit Register(const std::filesystem::path& log);
  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  /// Until the process is killed.
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

/// A user's line to the register, blocking.
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

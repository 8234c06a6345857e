// The addresses of the servers, looked up, and again while something is wrong with them.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/connect_string.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spdlog {
class logger;
}

namespace zklock {

namespace asio = boost::asio;

/// Looks names up with the system's resolver, off the thread; numeric addresses cost nothing. A list that was good once
/// is kept until there is another: a name service that fails takes nothing away.
///
/// Threads: the executor's.
class ServerList : public std::enable_shared_from_this<ServerList> {
 public:
  using Addresses = std::vector<std::string>;  // "address:port"

  /// `found` is called with each new list.
  ServerList(const asio::any_io_executor& executor, std::shared_ptr<spdlog::logger> logger,
             std::function<void(const Addresses&)> found);

  /// Other servers from now on.
  void set(std::vector<HostPort> servers);
  /// Something cannot be reached: the names may mean other addresses by now. Looks them up, less and less often, until
  /// rest() is called.
  void doubt();
  void rest();
  void close();

  [[nodiscard]] const Addresses& addresses() const noexcept { return addresses_; }

 private:
  struct LookUp;

  void look_up();
  void on_found(Addresses addresses);
  void wait_and_look_up();

  asio::ip::tcp::resolver resolver_;
  Timer timer_;
  std::shared_ptr<spdlog::logger> logger_;
  std::function<void(const Addresses&)> found_;
  std::vector<HostPort> servers_;
  Addresses addresses_;
  std::map<std::string, Addresses> known_;  // by "name:port"
  Clock::duration pause_{};
  bool looking_ = false;
  bool again_ = false;
  bool doubted_ = true;  // until something is connected
  bool closed_ = false;
};

}  // namespace zklock

// The addresses of the servers, looked up, and again while something is wrong with them.
#pragma once

#include "name_lookup.hpp"

#include <zklock/clock.hpp>
#include <zklock/connect_string.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spdlog {
class logger;
}

namespace zklock {

/// Looks names up with the system's resolver, side by side; numeric addresses cost nothing. Names that are answered
/// together are published together, so that none of their servers is preferred; one that takes its time holds up the
/// others for a moment, and joins them later. What was good once is kept until there is something else: a name service
/// that fails takes nothing away.
///
/// Threads: the executor's.
class ServerList : public std::enable_shared_from_this<ServerList> {
 public:
  using Addresses = std::vector<std::string>;  // "address:port"

  /// `found` is called with each new list.
  ServerList(const asio::any_io_executor& executor, std::shared_ptr<spdlog::logger> logger,
             std::function<void(const Addresses&)> found);
  ~ServerList() { close(); }
  ServerList(const ServerList&) = delete;
  ServerList& operator=(const ServerList&) = delete;

  /// Other servers from now on.
  void set(std::vector<HostPort> servers);
  /// Something cannot be reached: the names may mean other addresses by now. Looks them up, less and less often, until
  /// rest() is called and there is an address for some of them.
  void doubt();
  void rest();
  void close();

 private:
  void look_up();
  void ask(const std::string& name);
  void on_answer(const std::string& name, std::optional<Addresses> addresses);
  [[nodiscard]] bool awaits_answers() const;
  [[nodiscard]] Addresses resolved() const;
  void publish();

  asio::any_io_executor executor_;
  Timer again_;     // looks up once more
  Timer patience_;  // waits for what is slow
  std::shared_ptr<spdlog::logger> logger_;
  std::function<void(const Addresses&)> found_;
  std::vector<HostPort> servers_;
  Addresses addresses_;
  std::map<std::string, Addresses> known_;                    // by name, without ports
  std::map<std::string, std::shared_ptr<NameLookup>> asked_;  // by name
  Clock::duration pause_{};
  bool doubted_ = true;  // until something is connected
  bool closed_ = false;
};

}  // namespace zklock

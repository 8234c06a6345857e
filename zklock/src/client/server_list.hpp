// The addresses of the servers; they are looked up again while some server cannot be reached.
#pragma once

#include "name_lookup.hpp"

#include <zklock/connect_string.hpp>
#include <zklock/timer.hpp>

#include <chrono>
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

/// Looks names up with the system's resolver, in parallel; numeric addresses need no look-up. Names that are answered
/// together are published together, so that none of their servers is preferred. A slow name holds up the others for a
/// moment, and joins them later. Addresses are kept until there are new ones, so a name service that fails takes
/// nothing away.
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

  /// Replaces the servers.
  void set(std::vector<HostPort> servers);
  static constexpr Clock::duration longest_pause = std::chrono::seconds{30};

  /// To be called when a server cannot be reached: the names may have new addresses. Looks them up, less and less
  /// often, but at least so often, until stop_refresh() is called and some name has an address.
  void start_refresh(Clock::duration longest = longest_pause);
  void stop_refresh();
  void close();

 private:
  void look_up();
  void ask(const std::string& name);
  void on_answer(const std::string& name, std::optional<Addresses> addresses);
  [[nodiscard]] bool awaits_answers() const;
  [[nodiscard]] Addresses resolved() const;
  void publish();

  asio::any_io_executor executor_;
  Timer again_;  // starts the next look-up
  Timer limit_;  // limits the wait for slow names
  std::shared_ptr<spdlog::logger> logger_;
  std::function<void(const Addresses&)> found_;
  std::vector<HostPort> servers_;
  Addresses addresses_;
  std::map<std::string, Addresses> known_;                    // by name, without ports
  std::map<std::string, std::shared_ptr<NameLookup>> asked_;  // by name
  Clock::duration pause_{};
  Clock::duration longest_pause_ = longest_pause;
  bool refreshing_ = true;  // until something is connected
  bool closed_ = false;
};

}  // namespace zklock

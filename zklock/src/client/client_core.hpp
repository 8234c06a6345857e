// The shared state of all handles on one Client.
#pragma once

#include "lane.hpp"
#include "retry_turns.hpp"
#include "runtime.hpp"
#include "server_list.hpp"
#include "session_keeper.hpp"
#include "state_queue.hpp"

#include <zklock/client.hpp>
#include <zklock/connect_string.hpp>
#include <zklock/health.hpp>
#include <zklock/recipe_kit/observers.hpp>
#include <zklock/recipe_kit/shared_state.hpp>
#include <zklock/timer.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::detail {

/// The sessions of a Client, its servers, and the combined state of its sessions.
///
/// Threads: the part marked below, any; the rest on the serial executor.
class ClientCore final : public std::enable_shared_from_this<ClientCore> {
 public:
  /// Throws Error::invalid_connect_string.
  ClientCore(std::shared_ptr<Runtime> runtime, ClientConfig config, DriverFactory make_driver);

  void start();
  void close(CloseMode mode, Handler<> handler);
  /// Called when the executor is being destroyed and nothing runs any more: drops every handler, so that none keeps
  /// this object alive.
  void abandon();
  [[nodiscard]] RetryTurns& retry_turns() noexcept { return *retry_turns_; }
  /// The executor of the client's own operations; it runs on the serial executor.
  [[nodiscard]] asio::any_io_executor lane() const { return lane_->executor(); }

  // any thread
  [[nodiscard]] const ClientConfig& config() const noexcept { return config_; }
  /// Null if there are none.
  [[nodiscard]] const std::shared_ptr<const Observers<Observer>>& observers() const noexcept { return observers_; }
  [[nodiscard]] const std::string& chroot() const noexcept { return target_.chroot; }
  [[nodiscard]] const std::shared_ptr<Runtime>& runtime() const noexcept { return runtime_; }
  [[nodiscard]] ConnectionState state() const { return states_.get(); }
  [[nodiscard]] auto subscribe() { return states_.subscribe(runtime_); }
  [[nodiscard]] SessionKeeper& keeper_of(std::string_view server_path) const noexcept;
  [[nodiscard]] SharedState& shared_state() noexcept { return shared_state_; }
  [[nodiscard]] const std::vector<std::shared_ptr<SessionKeeper>>& keepers() const noexcept { return keepers_; }
  void set_servers(std::vector<HostPort> servers);
  [[nodiscard]] ClientHealth health() const;
  /// Why some session is not connected; empty if all are.
  [[nodiscard]] std::string trouble() const;

  /// The place of one operation among the operations that may be under way.
  class Place {
   public:
    Place() noexcept = default;
    explicit Place(std::shared_ptr<ClientCore> core) noexcept;
    ~Place() { leave(); }
    Place(Place&&) noexcept = default;
    Place& operator=(Place&&) = delete;
    /// False: all places are taken.
    [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
    /// Frees the place for another operation.
    void leave() noexcept;

   private:
    std::shared_ptr<ClientCore> core_;
  };

 private:
  void on_state(std::size_t session_number, ConnectionState state);
  [[nodiscard]] Clock::duration longest_pause_of_look_ups() const;
  void tell_state(std::size_t session_number, ConnectionState state);
  void tell_health(std::optional<Clock::duration> io_delay = {});
  void await_health_report();
  void finish_close();

  static constexpr Clock::duration unknown_delay = Clock::duration::min();

  std::shared_ptr<Runtime> runtime_;
  ClientConfig config_;
  std::shared_ptr<const Observers<Observer>> observers_;
  struct Told {
    ConnectionState state = ConnectionState::connecting;
    std::int64_t session_id = 0;
    std::chrono::milliseconds timeout{};
  };
  std::vector<Told> told_;  // what the observers know of each session
  Timer health_report_;
  std::atomic<Clock::duration> io_delay_{unknown_delay};
  std::uint64_t number_;  // unique in the process
  ConnectString target_;
  DriverFactory make_driver_;
  std::shared_ptr<Lane> lane_;
  std::shared_ptr<RetryTurns> retry_turns_;
  std::atomic<std::size_t> outstanding_{0};
  std::atomic<bool> has_begun_{false};  // the executor has run something
  SharedState shared_state_;
  std::shared_ptr<ServerList> servers_;
  std::vector<std::shared_ptr<SessionKeeper>> keepers_;
  StatePublisher<ConnectionState> states_{ConnectionState::connecting};
  std::vector<Handler<>> close_waiters_;
  std::size_t open_keepers_ = 0;
  bool closing_ = false;
  bool closed_ = false;
};

/// The combined state of several sessions: the worst of them.
[[nodiscard]] ConnectionState combined(const std::vector<ConnectionState>& states, bool connected_before) noexcept;

/// The prefix of the client's paths at the server: chroot and namespace.
[[nodiscard]] std::string prefix_of(const ClientRef& client);
[[nodiscard]] std::string server_path_of(const ClientRef& client, const std::string& path);
[[nodiscard]] SessionKeeper& keeper_of(const ClientRef& client, const std::string& path);

/// For zklock::testing: makes a Client with other drivers.
struct ClientAccess {
  [[nodiscard]] static Client make(std::shared_ptr<Runtime> runtime, ClientConfig config, DriverFactory make_driver);
};

}  // namespace zklock::detail

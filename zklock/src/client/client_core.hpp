// What all handles on one Client share.
#pragma once

#include "lane.hpp"
#include "retry_turns.hpp"
#include "runtime.hpp"
#include "server_list.hpp"
#include "session_keeper.hpp"
#include "state_queue.hpp"

#include <zklock/client.hpp>
#include <zklock/connect_string.hpp>
#include <zklock/detail/shelf.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::detail {

/// The sessions of a Client, its servers, and what the sessions' states come to together.
///
/// Threads: what is marked so, any; the rest on the serial executor.
class ClientCore final : public std::enable_shared_from_this<ClientCore> {
 public:
  /// Throws Error::invalid_connect_string.
  ClientCore(std::shared_ptr<Runtime> runtime, ClientConfig config, DriverFactory make_driver);

  void start();
  void close(CloseMode mode, Handler<> handler);
  /// The executor has come to its end, and nothing runs any more: lets go of every handler, so that none keeps us
  /// alive.
  void abandon();
  [[nodiscard]] RetryTurns& retry_turns() noexcept { return *retry_turns_; }
  /// Where the client's own operations run, on the serial executor.
  [[nodiscard]] asio::any_io_executor lane() const { return lane_->executor(); }

  // any thread
  [[nodiscard]] const ClientConfig& config() const noexcept { return config_; }
  [[nodiscard]] const std::string& chroot() const noexcept { return target_.chroot; }
  [[nodiscard]] const std::shared_ptr<Runtime>& runtime() const noexcept { return runtime_; }
  [[nodiscard]] ConnectionState state() const { return states_.get(); }
  [[nodiscard]] auto subscribe() { return states_.subscribe(runtime_); }
  [[nodiscard]] SessionKeeper& keeper_of(std::string_view server_path) const noexcept;
  [[nodiscard]] Shelf& shelf() noexcept { return shelf_; }
  [[nodiscard]] const std::vector<std::shared_ptr<SessionKeeper>>& keepers() const noexcept { return keepers_; }
  void set_servers(std::vector<HostPort> servers);
  /// Why some session is not connected; empty: all are.
  [[nodiscard]] std::string trouble() const;

  /// One operation's place among those that may be under way.
  class Place {
   public:
    Place() noexcept = default;
    explicit Place(std::shared_ptr<ClientCore> core) noexcept;
    ~Place() { leave(); }
    Place(Place&&) noexcept = default;
    Place& operator=(Place&&) = delete;
    /// False: there is none.
    [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
    /// It is another operation's to take.
    void leave() noexcept;

   private:
    std::shared_ptr<ClientCore> core_;
  };

 private:
  void on_state(ConnectionState state);
  void finish_close();

  std::shared_ptr<Runtime> runtime_;
  ClientConfig config_;
  ConnectString target_;
  DriverFactory make_driver_;
  std::shared_ptr<Lane> lane_;
  std::shared_ptr<RetryTurns> retry_turns_;
  std::atomic<std::size_t> outstanding_{0};
  Shelf shelf_;
  std::shared_ptr<ServerList> servers_;
  std::vector<std::shared_ptr<SessionKeeper>> keepers_;
  StatePublisher<ConnectionState> states_{ConnectionState::connecting};
  std::vector<Handler<>> close_waiters_;
  std::size_t open_keepers_ = 0;
  bool closing_ = false;
  bool closed_ = false;
};

/// What the states of several sessions come to: the worst of them.
[[nodiscard]] ConnectionState combined(const std::vector<ConnectionState>& states, bool connected_before) noexcept;

/// What stands before the client's paths at the server: chroot and namespace.
[[nodiscard]] std::string prefix_of(const ClientRef& client);
[[nodiscard]] std::string server_path_of(const ClientRef& client, const std::string& path);
[[nodiscard]] SessionKeeper& keeper_of(const ClientRef& client, const std::string& path);

/// For zklock::testing: a Client over other drivers.
struct ClientAccess {
  [[nodiscard]] static Client make(std::shared_ptr<Runtime> runtime, ClientConfig config, DriverFactory make_driver);
};

}  // namespace zklock::detail

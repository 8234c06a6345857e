// The interface to the servers: requests, replies, watch events and session states.
#pragma once

#include "session_validity.hpp"

#include <zklock/acl.hpp>
#include <zklock/clock.hpp>
#include <zklock/create_mode.hpp>
#include <zklock/detail/initiate.hpp>
#include <zklock/error.hpp>
#include <zklock/results.hpp>
#include <zklock/stat.hpp>
#include <zklock/watch_event.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spdlog {
class logger;
}

namespace zklock {

struct ConnectHistory;

enum class Operation {
  create,
  remove,
  exists,
  get_data,
  set_data,
  get_children,
  get_acl,
  set_acl,
  sync,
  check,  ///< only as a part of a multi: the node exists and has the version
  multi   ///< all parts or none: create, remove, set_data, check
};

[[nodiscard]] std::string_view to_string(Operation operation) noexcept;

/// Whether the leader takes part in the reply: the operation is a write, or waits for one.
[[nodiscard]] constexpr bool goes_to_leader(Operation operation) noexcept {
  switch (operation) {
    case Operation::create:
    case Operation::remove:
    case Operation::set_data:
    case Operation::set_acl:
    case Operation::sync:
    case Operation::multi: return true;
    case Operation::exists:
    case Operation::get_data:
    case Operation::get_children:
    case Operation::get_acl:
    case Operation::check: break;
  }
  return false;
}

/// A request to the server. Paths are the server's: they include chroot and namespace.
struct Request {
  Operation operation = Operation::sync;
  std::string path{};
  std::string data{};
  CreateMode mode = CreateMode::persistent;
  std::chrono::milliseconds ttl{0};
  std::int32_t version = -1;
  Acl acl{};                     ///< for a create (never empty then) or a set_acl
  std::vector<Request> parts{};  ///< for a multi
};

/// A reply of the server. The operation determines which fields have a meaning; after an error none has.
struct Reply {
  error_code error;
  std::string path{};
  std::string data{};
  std::vector<std::string> children{};
  Stat stat{};
  Acl acl{};
  /// After a multi, one for each part, with or without an error: the paths of created nodes and the Stats of changed
  /// nodes. In a failed multi, the error of the part that failed, and rolled_back for the others.
  std::vector<Reply> parts{};
};

/// Receives one reply, on the driver's executor, after the submit that asked for it has returned.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void on_reply(Reply& reply) = 0;
};

/// Where a watch is. The path is the server's.
struct WatchPlace {
  WatchKind kind = WatchKind::data;
  std::string path{};
  friend auto operator<=>(const WatchPlace&, const WatchPlace&) = default;
};

/// Of the watch that a read sets.
[[nodiscard]] constexpr WatchKind watch_kind(Operation operation) noexcept {
  return operation == Operation::get_children ? WatchKind::children : WatchKind::data;
}

/// Waits at one place or at many: at each of them it receives at most one event for each read that set the watch, after
/// the reply of that read; or the error that ended the session.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  virtual void on_watch_event(error_code error, const WatchPlace& place, WatchEventType event) = 0;
};

/// The driver's view of the session. `expired` and `auth_failed` are final.
enum class LinkState { disconnected, connected, read_only, expired, auth_failed };

class LinkListener {
 public:
  virtual ~LinkListener() = default;
  /// Called at each change, before the replies that the change caused.
  virtual void on_link_state(LinkState state) = 0;
  /// The servers have answered: the session was alive when that request was sent. Called before the change of state and
  /// the replies that came with it.
  virtual void on_server_ack(const ServerAck& ack) = 0;
};

enum class CloseMode {
  /// The servers are told, also if one must first be found; for five seconds at most. A later abortive close cuts this
  /// short.
  graceful,
  abortive,  ///< the connection is cut; the server ends the session when its time is up
  /// The client has given the session up although no server has ended it. The driver looks for it until it is closed at
  /// the server or known to be over, so that its nodes do not block other clients. A later close in another mode cuts
  /// this short.
  when_reachable
};

/// The connection of one session to the servers. It knows neither retries nor recipes.
///
/// Threads: only the executor with which it was made; it calls its listener and sinks there.
class Driver {
 public:
  using RequestId = std::uint64_t;

  virtual ~Driver() = default;

  virtual void start(std::weak_ptr<LinkListener> listener) = 0;

  /// Sends the request as soon as there is a connection. The sink is called exactly once, unless the request is
  /// forgotten before, and never inside this call. A read with a watch sink sets a watch if it succeeds (an exists also
  /// if it finds no node).
  virtual RequestId submit(Request request, std::shared_ptr<ReplySink> sink, std::shared_ptr<WatchSink> watch = {}) = 0;

  /// The sinks of the request are not called any more. The server may still carry the request out.
  virtual void forget(RequestId id) = 0;

  /// Gives the sink's watch at the place up, also at the server if no other sink uses it. The sink may still get an
  /// event that has already happened.
  virtual void forget_watch(const WatchSink& watch, const WatchPlace& place) = 0;

  /// Ends the connection. Requests without a reply, and watches that have not fired, complete with `reason`. `closed`
  /// is called when it is done.
  virtual void close(CloseMode mode, error_code reason, std::function<void()> closed) = 0;

  /// Called when the executor is being destroyed: closes abortively, and delivers what is under way within this call.
  virtual void abandon() = 0;

  /// The servers to connect to from now on. A connection to any other server is given up.
  virtual void set_servers(std::vector<std::string> servers) = 0;

  /// The session's id and password, as of the last handshake.
  [[nodiscard]] virtual SessionCredentials credentials() const = 0;
  /// The session timeout that the server granted.
  [[nodiscard]] virtual std::chrono::milliseconds session_timeout() const = 0;
  /// How many watches the session has, each counted once, whatever the number of its sinks.
  [[nodiscard]] virtual std::size_t watches() const = 0;
};

struct DriverOptions {
  std::vector<std::string> servers;  ///< "address:port", numeric; at least one
  std::chrono::milliseconds session_timeout{};
  std::vector<AuthInfo> auth{};
  std::size_t max_buffer = 1'048'575;  ///< as ClientConfig's
  std::shared_ptr<spdlog::logger> logger{};
  std::chrono::microseconds busy_poll{};         ///< as ClientConfig's
  std::chrono::milliseconds reconnect_jitter{};  ///< as ClientConfig's
  /// Is told, for people to read, why a connection was not made or was lost. It must not call the driver.
  std::function<void(std::string)> on_trouble{};
  /// Of the sessions before: the driver takes its pauses by it, and passes it on. Null: a new one.
  std::shared_ptr<ConnectHistory> history{};
};

/// Makes a driver that runs on a serial executor.
using DriverFactory = std::function<std::shared_ptr<Driver>(asio::any_io_executor, DriverOptions)>;

}  // namespace zklock

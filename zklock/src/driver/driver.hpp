// The one seam to the world: requests, replies, watch events and session states.
#pragma once

#include "proof_of_life.hpp"

#include <zklock/acl.hpp>
#include <zklock/clock.hpp>
#include <zklock/create_mode.hpp>
#include <zklock/error.hpp>
#include <zklock/session.hpp>
#include <zklock/stat.hpp>

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

/// The leader has a part in what it answers: it is a write, or waits for one.
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

/// What to ask the server. Paths are the server's: chroot and namespace are already part of them.
struct Request {
  Operation operation = Operation::sync;
  std::string path{};
  std::string data{};
  CreateMode mode = CreateMode::persistent;
  std::chrono::milliseconds ttl{0};
  std::int32_t version = -1;
  Acl acl{};                     ///< of a create, never empty then; of a set_acl
  std::vector<Request> parts{};  ///< of a multi
};

/// What the server said. Which fields have a meaning follows from the operation; none has after an error.
struct Reply {
  error_code error;
  std::string path{};
  std::string data{};
  std::vector<std::string> children{};
  Stat stat{};
  Acl acl{};
  /// Of a multi, one for each part, with or without an error: paths of what was created, Stats of what was set, and in
  /// a failed one the error of the part that failed, rolled_back of the others.
  std::vector<Reply> parts{};
};

/// Receives one reply, on the driver's executor, after the submit that asked for it has returned.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void on_reply(Reply& reply) = 0;
};

/// Receives one watch event, or the error that ended the session, at most; after the reply of the read that set the
/// watch.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  virtual void on_watch_event(error_code error, WatchEventType event) = 0;
};

/// What the driver knows of the session. `expired` and `auth_failed` are final.
enum class LinkState { disconnected, connected, read_only, expired, auth_failed };

class LinkListener {
 public:
  virtual ~LinkListener() = default;
  /// Called with each change, before the replies that the change caused.
  virtual void on_link_state(LinkState state) = 0;
  /// The servers have answered: they knew us alive when that was sent. Before the change of state, and before the
  /// replies, that came with it.
  virtual void on_contact(const Contact& contact) = 0;
};

enum class CloseMode {
  /// The servers are told, also if one must be found for that first; for five seconds at most. A later abortive
  /// close cuts that short.
  graceful,
  abortive,  ///< the connection is cut; the server ends the session when its time is up
  /// The session has been given up without the servers' word: it is looked for until it is closed at the server or
  /// known to be over, so that its nodes stand in nobody's way. A later close in another mode cuts that short.
  when_reachable
};

/// How long a graceful close may take: the C client's own takes 4.5 s at most, where there is a connection (124).
inline constexpr std::chrono::seconds close_limit{5};

/// One session's connection to the servers. It knows neither retries nor recipes.
///
/// Threads: everything on the executor it was made with; it calls its listener and sinks there.
class Driver {
 public:
  using RequestId = std::uint64_t;

  virtual ~Driver() = default;

  virtual void start(std::weak_ptr<LinkListener> listener) = 0;

  /// Sends the request as soon as there is a connection. The sink hears of it exactly once, unless the request is
  /// forgotten before, and never inside this call. A read with a watch sink sets a watch if it succeeds (an exists also
  /// if it finds no node).
  virtual RequestId submit(Request request, std::shared_ptr<ReplySink> sink, std::shared_ptr<WatchSink> watch = {}) = 0;

  /// The sinks of the request will not be called any more. What it asked for may still be done.
  virtual void forget(RequestId id) = 0;

  /// The sink's watch is given up, at the server too if nobody else uses it. What has happened already the sink may
  /// still hear.
  virtual void forget_watch(const WatchSink& watch) = 0;

  /// Ends the connection; requests not answered and watches not fired complete with `reason`. `closed` is called once
  /// it is done.
  virtual void close(CloseMode mode, error_code reason, std::function<void()> closed) = 0;

  /// The executor has come to its end: closes abortively, and hands over what is under way within this call.
  virtual void abandon() = 0;

  /// Where to connect from now on. A connection to a server that is not among them is given up; any other stays.
  virtual void set_servers(std::vector<std::string> servers) = 0;

  /// Who the session is, as of the last handshake.
  [[nodiscard]] virtual SessionCredentials credentials() const = 0;
  /// The session timeout that the server granted.
  [[nodiscard]] virtual std::chrono::milliseconds session_timeout() const = 0;
};

struct DriverOptions {
  std::vector<std::string> servers;  ///< "address:port", numeric; at least one
  std::chrono::milliseconds session_timeout{};
  std::vector<AuthInfo> auth{};
  std::size_t max_buffer = 1'048'575;  ///< as ClientConfig's
  std::shared_ptr<spdlog::logger> logger{};
  std::chrono::microseconds busy_poll{};         ///< as ClientConfig's
  std::chrono::milliseconds reconnect_jitter{};  ///< as ClientConfig's
  /// Hears, for people to read, why a connection was not made, or was lost. It may not call the driver.
  std::function<void(std::string)> on_trouble{};
};

/// Makes a driver that lives on a serial executor.
using DriverFactory = std::function<std::shared_ptr<Driver>(asio::any_io_executor, DriverOptions)>;

}  // namespace zklock

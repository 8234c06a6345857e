// The one seam to the world: requests, replies, watch events and session states.
#pragma once

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
#include <vector>

namespace zklock {

enum class Operation { create, remove, exists, get_data, set_data, get_children, sync };

/// What to ask the server. Paths are the server's: a chroot is already part of them.
struct Request {
  Operation operation = Operation::sync;
  std::string path;
  std::string data{};
  CreateMode mode = CreateMode::persistent;
  std::chrono::milliseconds ttl{0};
  std::int32_t version = -1;
};

/// What the server said. Which fields have a meaning follows from the operation; none has after an error.
struct Reply {
  error_code error;
  std::string path{};
  std::string data{};
  std::vector<std::string> children{};
  Stat stat{};
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
  /// Something was received from the server.
  virtual void on_contact(Clock::time_point when) = 0;
};

enum class CloseMode {
  graceful,  ///< the server is told, and given a few seconds to acknowledge
  abortive   ///< the connection is cut; the server ends the session when its time is up
};

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

  /// The sink's watch is given up, at the server too if nobody else uses it.
  virtual void forget_watch(const WatchSink& watch) = 0;

  /// Ends the connection; requests not answered and watches not fired complete with `reason`. `closed` is called once
  /// it is done.
  virtual void close(CloseMode mode, error_code reason, std::function<void()> closed) = 0;

  /// Who the session is, as of the last handshake.
  [[nodiscard]] virtual SessionCredentials credentials() const = 0;
  /// The session timeout that the server granted.
  [[nodiscard]] virtual std::chrono::milliseconds session_timeout() const = 0;
};

}  // namespace zklock

// What a program can hear of its client: requests, retries, connection states, its health, and deletes that are still to
// be done.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/connection_state.hpp>
#include <zklock/error.hpp>
#include <zklock/health.hpp>
#include <zklock/stat.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace zklock {

// The views and pointers in an event live for the call. Paths are the server's: they include chroot and namespace.

enum class RequestPhase {
  begun,
  ended  ///< answered, failed, refused or cancelled
};

/// A request of a session. Each one has two events. Heartbeats, and the `sync` of a SessionRenewal, have none.
struct RequestEvent {
  RequestPhase phase = RequestPhase::begun;
  std::uint64_t number = 0;  ///< joins the two events; unique in the process
  std::string_view client_id{};
  std::int64_t session_id = 0;
  std::string_view operation{};  ///< "create", "get_children", "multi", ...
  std::string_view path{};       ///< empty for a "multi"
  std::size_t sent = 0;          ///< bytes of data in the request

  // The end has these, too.
  error_code error{};  ///< as the caller gets it; outcome_of() tells whether a write may have been done all the same
  Clock::duration took{};
  std::size_t received = 0;             ///< bytes of data in the reply
  std::optional<std::size_t> children;  ///< how many a list has named
  bool sets_watch = false;
  const Stat* stat = nullptr;  ///< null: the reply has none
};

/// An operation has failed with an error after which it may succeed.
struct RetryEvent {
  std::string_view client_id{};
  std::string_view operation{};  ///< "acquire", "create", ...
  std::string_view path{};
  error_code error{};
  int retries = 0;                         ///< how many it has had
  Clock::duration lasts{};                 ///< since the operation began
  std::optional<Clock::duration> pause{};  ///< until the next try; empty: it is given up
};

/// One of a client's sessions has changed its state.
struct StateEvent {
  std::string_view client_id{};
  std::size_t session_number = 0;  ///< 0 to ClientConfig::sessions - 1
  ConnectionState from = ConnectionState::connecting;
  ConnectionState to = ConnectionState::connecting;
  ConnectionState client = ConnectionState::connecting;  ///< of all sessions together
  std::int64_t session_id = 0;                           ///< of the session that `to` is about; 0: not known yet
  std::chrono::milliseconds session_timeout{};           ///< as the server granted it
  std::string_view cause{};                              ///< why there is no connection, for people to read
};

/// How the client does. Comes after each change of a state, and every second, or nine times in the session timeout, if
/// that is shorter. The last one has the state `closed`.
struct HealthEvent {
  std::uint64_t client_number = 0;  ///< unique in the process
  std::string_view client_id{};
  const ClientHealth* health = nullptr;  ///< never null
  std::size_t watches = 0;               ///< of all sessions
  /// How late the I/O was for this report; empty if a change of a state is its cause.
  std::optional<Clock::duration> io_delay{};
};

enum class CleanupPhase {
  pending,  ///< the first try has failed, or had to wait for the link
  done      ///< the node is gone, or its session is over and the servers delete it, or the client is closed
};

/// A guaranteed delete that takes more than one try. Each one has two events. Until the second the node is an orphan,
/// which others may wait for.
struct CleanupEvent {
  CleanupPhase phase = CleanupPhase::pending;
  std::uint64_t number = 0;  ///< joins the two events; unique in the process
  std::string_view client_id{};
  std::string_view path{};  ///< of the node; of its directory, if only a part of its name is known
  error_code error{};       ///< at the end, if it has not succeeded
  Clock::duration took{};   ///< at the end
};

/// Hears what a client does. Pass it by ClientConfig::observers; one observer may hear several clients. A class that is
/// also a LockObserver (recipes/locks/lock_observer.hpp) hears of locks as well.
///
/// A call takes place while the client's I/O waits: it must take microseconds, not block, and not call zklock. An
/// exception from it is logged, once for each list of observers, and goes no further.
///
/// Threads: the client's executor, one call at a time; so with several clients, several threads at once.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_request(const RequestEvent&) {}
  virtual void on_retry(const RetryEvent&) {}
  virtual void on_state(const StateEvent&) {}
  virtual void on_cleanup(const CleanupEvent&) {}
  virtual void on_health(const HealthEvent&) {}
};

}  // namespace zklock

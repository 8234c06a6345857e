// What a program can hear of its locks.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/error.hpp>
#include <zklock/recipes/locks/lock_kind.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace zklock {

/// An attempt begins with `asked` and ends with one of the next six. Each grant ends with `released` or `lost`.
enum class LockPhase {
  asked,

  granted,    ///< once for each of several permits
  reentered,  ///< its owner got the lock by another attempt, and has entered it again; also told of each re-entry
  timed_out,  ///< its deadline has passed, or the one try has failed
  cancelled,  ///< by the caller, or because the client closes
  refused,    ///< it would have waited for itself, or cannot be as it was asked for; nothing was sent for it
  failed,     ///< with an error, which the caller judges

  enqueued,  ///< its node is in the wait queue; once more, as another node, after a lost session
  waiting,   ///< until another node is gone; of a semaphore, for permits
  slow,      ///< it has waited for ClientConfig::slow_wait; again after ten times that, and so on

  suspect,               ///< the link is lost: the lock is held until the lease's valid_until()
  held_again,            ///< the link is back, and the lock still held
  revocation_requested,  ///< a client has asked the holder for the lock
  released,              ///< the servers have confirmed it, or will be asked until they do
  lost                   ///< another client may hold the lock
};

[[nodiscard]] std::string_view to_string(LockPhase phase) noexcept;

/// Whether this phase ends an attempt; with `reentered`, if LockEvent::waited is known.
[[nodiscard]] bool ends_attempt(LockPhase phase) noexcept;

/// The client that blocks a waiter, as its node describes it.
struct LockHolder {
  std::string_view client_id{};  ///< empty if the data is not zklock's
  std::int64_t session_id = 0;
  std::string_view node_path{};
  Clock::duration age{};  ///< of its node, by the servers' clock and this host's; at least 0
};

/// Unknown values are left out: empty, zero or null. The views live for the call.
struct LockEvent {
  LockPhase phase = LockPhase::asked;
  LockKind kind = LockKind::mutex;
  /// Joins the events of one attempt and of what it was granted; unique in the process.
  std::uint64_t attempt = 0;
  std::string_view client_id{};
  std::string_view path{};      ///< of the lock, at the server; of a permit: the directory of the permits
  std::int64_t session_id = 0;  ///< of the node
  std::uint64_t owner = 0;      ///< Owner::number(), from `granted` on
  std::string_view node_path{};
  std::string_view behind{};  ///< the path of the node that is waited for, or its name
  std::int64_t fencing_token = 0;
  std::optional<Clock::duration> waited{};  ///< since `asked`
  std::optional<Clock::duration> held{};    ///< since `granted`
  std::uint32_t count = 0;                  ///< how many times the owner has entered it
  error_code error{};
  /// Of a loss: "session_expired", "validity_passed", "node_deleted", "max_hold_passed", "auth_failed" or
  /// "closed". docs/logging.md
  std::string_view cause{};

  // `slow` has these, if the servers could be asked.
  std::optional<std::size_t> ahead{};  ///< how many nodes are ahead
  const LockHolder* holder = nullptr;
};

/// Hears of the locks and semaphores of a client. A program's class derives from it and from Observer, and is passed
/// once, by ClientConfig::observers:
///
///   class Waits : public zklock::Observer, public zklock::LockObserver { ... };
///
/// The rules for calls are Observer's. `granted` comes before the handler of the acquire is called: what the holder
/// does is told later.
///
/// Threads: the client's executor, one call at a time, but for two: `reentered` comes on the thread that enters again,
/// and the end of a lease that outlives its client's executor on the thread that destroys it.
class LockObserver {
 public:
  virtual ~LockObserver() = default;
  virtual void on_lock(const LockEvent&) {}
};

}  // namespace zklock

// The events of a lock: the log and the observers hear of them here.
#pragma once

#include "limits.hpp"
#include "lock_target.hpp"
#include "slow_waits.hpp"

#include <zklock/clock.hpp>
#include <zklock/recipes/locks/lock_observer.hpp>
#include <zklock/session.hpp>

#include <boost/asio/cancellation_state.hpp>

#include <cstdint>
#include <string_view>

namespace zklock::detail {

class HeldLock;

/// Whether anybody hears of events that are no loss: the caller of an event that happens a million times a second asks
/// first.
[[nodiscard]] bool is_read(const LockTarget& lock) noexcept;

/// Tells the client's observers, and writes the log line: a loss is a warning, or info if the client itself was closed,
/// and so is a slow wait; all else is debug. Fills in the client and the path. Costs one test if nobody hears it.
///
/// Threads: any.
void tell_listeners(const LockTarget& lock, LockEvent event) noexcept;
inline void tell(const LockTarget& lock, const LockEvent& event) noexcept {
  if (lock.is_heard()) tell_listeners(lock, event);
}

/// Writes a warning, once for each path of a client: a node of that name is in the directory, and does not exclude the
/// lock of this kind for which the session has a node there.
///
/// Threads: the client's executor.
void warn_of_other_kind(const LockTarget& lock, LockKind kind, const Session& session, std::string_view node);

/// One attempt to acquire: one event begins it and one ends it, whatever the outcome.
///
/// Threads: the client's executor.
class LockAttempt {
 public:
  /// `lock` must outlive it. The deadline, at which another object cancels the attempt, tells what the outcome was
  /// then; `cancellation` is that of the coroutine to which the attempt belongs.
  LockAttempt(const LockTarget& lock, LockKind kind, const Limits& limits,
              const asio::cancellation_state& cancellation);
  ~LockAttempt();
  LockAttempt(const LockAttempt&) = delete;
  LockAttempt& operator=(const LockAttempt&) = delete;

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  void enqueued(const Session& session, std::string_view node_path) const;
  void waits(const Session& session, std::string_view node_path, std::string_view behind) const;
  void granted(const HeldLock& held_lock);
  /// Its owner has got the lock by another attempt, and has entered it again.
  void entered_again(const HeldLock& held_lock);
  /// Returns the error.
  error_code failed(error_code error);

 private:
  void end() noexcept;

  const LockTarget& lock_;
  LockKind kind_;
  Limits limits_;
  asio::cancellation_state cancellation_;
  std::uint64_t number_;
  Clock::time_point began_ = Clock::now();
  mutable SlowWait slow_wait_;
  bool ended_ = false;
};

}  // namespace zklock::detail

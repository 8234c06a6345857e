// What happens to a lock, and the one place where each such event is told.
#pragma once

#include "limits.hpp"

#include <zklock/clock.hpp>
#include <zklock/recipes/lock_kind.hpp>
#include <zklock/session.hpp>

#include <boost/asio/cancellation_state.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace zklock::detail {

class Holding;
class LockCore;

enum class LockPhase {
  asked,      ///< an attempt begins, and ends with one of these, or has entered again:
  granted,    ///< (each of several permits on its own)
  timed_out,  ///< its time is up, or the one try has failed
  cancelled,  ///< by the caller, or with the client
  failed,     ///< the error is the caller's to judge

  enqueued,  ///< its node stands in the wait queue
  waiting,   ///< for the node of another one to go; for permits

  entered_again,         ///< what is held is held once more; the end of an attempt that waited for another of its owner
  revocation_requested,  ///< somebody has asked the holder for it
  released,              ///< what was granted ends with this,
  lost                   ///< or with this: somebody else may hold it
};

[[nodiscard]] std::string_view to_string(LockPhase phase) noexcept;

/// What is unknown is left out. The views live for the call.
struct LockEvent {
  LockPhase phase;
  LockKind kind;
  std::uint64_t attempt = 0;         ///< joins what belongs together, in this process
  const Session* session = nullptr;  ///< whose node it is
  std::string_view node_path{};
  std::string_view behind{};  ///< the path of the node that is waited for, or its name
  std::int64_t token = 0;
  std::optional<Clock::duration> waited{};
  std::optional<Clock::duration> held{};
  std::uint32_t count = 0;
  error_code error{};
  std::string_view cause{};  ///< of a loss
};

/// Somebody reads what is told on the debug level: what happens a million times a second asks first.
[[nodiscard]] bool is_read(const LockCore& lock) noexcept;

/// Writes the log line: a loss is a warning, and info if it is the client's own closing; all else is debug. Costs
/// nothing to speak of where nobody reads that.
///
/// Threads: any.
void tell(const LockCore& lock, const LockEvent& event) noexcept;

/// Writes a warning, once for each path of a client: a node of that name stands in the directory, and does not exclude
/// the lock of this kind for which the session has a node there.
///
/// Threads: the client's executor.
void warn_of_other_kind(const LockCore& lock, LockKind kind, const Session& session, std::string_view node);

/// One attempt to acquire: whatever becomes of it, one event begins it and one ends it.
///
/// Threads: the client's executor.
class LockAttempt {
 public:
  /// `lock` must outlive it. The deadline, at which somebody else cancels it, tells what became of it then;
  /// `cancellation` is that of the coroutine that it is a part of.
  LockAttempt(const LockCore& lock, LockKind kind, const Limits& limits, const asio::cancellation_state& cancellation);
  ~LockAttempt();
  LockAttempt(const LockAttempt&) = delete;
  LockAttempt& operator=(const LockAttempt&) = delete;

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  void enqueued(const Session& session, std::string_view node_path) const;
  void waits(const Session& session, std::string_view node_path, std::string_view behind) const;
  void granted(const Holding& holding);
  /// Its owner has got the lock by another one, and has entered again.
  void entered_again(const Holding& holding);
  /// Gives the error back.
  error_code failed(error_code error);

 private:
  const LockCore& lock_;
  LockKind kind_;
  Limits limits_;
  asio::cancellation_state cancellation_;
  std::uint64_t number_;
  Clock::time_point began_ = Clock::now();
  bool ended_ = false;
};

}  // namespace zklock::detail

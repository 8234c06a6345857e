// Blocking versions of asynchronous operations.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/error.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <utility>

namespace zklock::detail {

template <class... Result>
struct Completion;

template <>
struct Completion<> {
  error_code error;
};

template <class Result>
struct Completion<Result> {
  error_code error;
  std::optional<Result> value;
};

/// A handler that notes the result. Here and below a handler's type depends on the results alone, not on the operation:
/// what such a type instantiates takes a compiler some tenths of a second.
template <class Executor, class... Result>
struct NoteResult {
  using executor_type = Executor;

  Completion<Result...>& outcome;
  std::binary_semaphore& done;
  Executor executor;

  void operator()(error_code error, Result... result) {
    outcome.error = error;
    ((outcome.value.emplace(std::move(result))), ...);
    done.release();
  }
  [[nodiscard]] executor_type get_executor() const noexcept { return executor; }
};

/// Starts an operation whose handler runs on `executor`, and blocks until the handler has run. `operation` is called
/// with a completion token.
template <class... Result, class Executor, class Operation>
Completion<Result...> block_on(const Executor& executor, Operation&& operation) {
  std::binary_semaphore done{0};
  Completion<Result...> outcome;
  std::forward<Operation>(operation)(NoteResult<Executor, Result...>{outcome, done, executor});
  done.acquire();
  return outcome;
}

/// Passes a result from an operation's handler to a caller that may have stopped waiting. Threads: any.
template <class... Result>
class Meeting {
 public:
  boost::asio::cancellation_signal cancellation;

  /// Destroys a result that comes after the caller has stopped waiting: a Lease then releases its lock.
  void complete(error_code error, Result... result) {
    const std::lock_guard lock{mutex_};
    if (left_) return;
    outcome_.emplace();
    outcome_->error = error;
    ((outcome_->value.emplace(std::move(result))), ...);
    done_.notify_one();
  }

  /// Waits in slices: the clock of a condition variable stands still while the machine is suspended.
  std::optional<Completion<Result...>> wait_until(Clock::time_point time) {
    constexpr Clock::duration slice = std::chrono::seconds{1};
    std::unique_lock lock{mutex_};
    for (auto now = Clock::now(); !outcome_ && now < time; now = Clock::now())
      done_.wait_for(lock, std::min(time - now, slice));
    left_ = !outcome_;
    return std::move(outcome_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  std::optional<Completion<Result...>> outcome_;
  bool left_ = false;
};

/// The handler that brings the result there. The caller can cancel.
template <class Executor, class... Result>
struct CompleteMeeting {
  using executor_type = Executor;
  using cancellation_slot_type = boost::asio::cancellation_slot;

  std::shared_ptr<Meeting<Result...>> meeting;
  Executor executor;

  void operator()(error_code error, Result... result) { meeting->complete(error, std::move(result)...); }
  [[nodiscard]] executor_type get_executor() const noexcept { return executor; }
  [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return meeting->cancellation.slot(); }
};

/// How long the caller waits, after the deadline, for the operation's own result, which is more exact. An executor that
/// is not run, or is busy, gives none.
inline constexpr std::chrono::milliseconds last_word{50};

/// Like block_on, but only until the deadline on the caller's clock; then the result is `at_deadline`. The operation,
/// which has the same deadline, is cancelled, and a late result is destroyed, so that a lock is released.
template <class... Result, class Executor, class Operation>
Completion<Result...> block_until(Deadline deadline, Error at_deadline, const Executor& executor,
                                  Operation&& operation) {
  if (!deadline) return block_on<Result...>(executor, std::forward<Operation>(operation));
  const auto meeting = std::make_shared<Meeting<Result...>>();
  std::forward<Operation>(operation)(CompleteMeeting<Executor, Result...>{meeting, executor});
  constexpr Clock::duration longest = std::chrono::hours{24 * 365};
  const Clock::time_point now = Clock::now();
  const Clock::duration left = *deadline > now ? std::min(*deadline - now, longest) : Clock::duration::zero();
  if (auto outcome = meeting->wait_until(now + left + last_word)) return std::move(*outcome);
  meeting->cancellation.emit(boost::asio::cancellation_type::terminal);
  Completion<Result...> overdue;
  overdue.error = make_error_code(at_deadline);
  return overdue;
}

}  // namespace zklock::detail

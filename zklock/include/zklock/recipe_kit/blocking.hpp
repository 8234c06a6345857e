// Blocking versions of asynchronous operations.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <utility>

namespace zklock {

class ClientHandle;

}  // namespace zklock

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

/// What a blocking call waits for: handlers that run on an executor.
struct Awaited {
  boost::asio::any_io_executor executor{};
  /// How long the caller waits without a deadline while nothing runs there; empty: the executor always runs.
  std::optional<Clock::duration> max_silence{};
};

/// The client's serial executor. A program may have given an executor that nobody runs; zklock's own thread always
/// does.
[[nodiscard]] Awaited awaited_of(const ClientHandle& client);
/// Error::blocking_in_handler on a thread that the client's own work needs, and else none.
[[nodiscard]] error_code why_not_block(const ClientHandle& client) noexcept;

/// Shows a waiting caller, who has no other way to know, whether anything runs what is posted to an executor.
class ExecutorProbe {
 public:
  explicit ExecutorProbe(Awaited awaited) : awaited_{std::move(awaited)} {}

  /// For how long nothing has run there, as far as the calls of this function show.
  Clock::duration silence(Clock::time_point now) {
    if (!awaited_.max_silence) return Clock::duration::zero();
    if (*ran_) {
      *ran_ = false;
      posted_ = now;
      boost::asio::post(awaited_.executor, [ran = ran_] { *ran = true; });
    }
    return now - posted_;
  }
  [[nodiscard]] bool is_overdue(Clock::time_point now) { return silence(now) >= longest(); }
  /// A silence that is long enough for the caller to say so, in place of that the time is up.
  [[nodiscard]] bool is_silent(Clock::time_point now) { return silence(now) >= std::chrono::seconds{1}; }

 private:
  [[nodiscard]] Clock::duration longest() const noexcept {
    return std::max<Clock::duration>(awaited_.max_silence.value_or(Clock::duration::max()), std::chrono::seconds{1});
  }

  Awaited awaited_;
  std::shared_ptr<std::atomic<bool>> ran_ = std::make_shared<std::atomic<bool>>(true);
  Clock::time_point posted_{};
};

/// A handler that notes the result. Here and below a handler's type depends on the results alone, not on the operation:
/// what such a type instantiates takes a compiler some tenths of a second.
template <class... Result>
struct NoteResult {
  using executor_type = boost::asio::any_io_executor;

  Completion<Result...>& outcome;
  std::binary_semaphore& done;
  executor_type executor;

  void operator()(error_code error, Result... result) {
    outcome.error = error;
    ((outcome.value.emplace(std::move(result))), ...);
    done.release();
  }
  [[nodiscard]] executor_type get_executor() const noexcept { return executor; }
};

/// Starts an operation whose handler runs on `executor`, and blocks until the handler has run. `operation` is called
/// with a completion token.
template <class... Result, class Operation>
Completion<Result...> block_on(const boost::asio::any_io_executor& executor, Operation&& operation) {
  std::binary_semaphore done{0};
  Completion<Result...> outcome;
  std::forward<Operation>(operation)(NoteResult<Result...>{outcome, done, executor});
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

  /// Waits until then, or until the executor has run nothing for too long. In slices: the clock of a condition variable
  /// stands still while the machine is suspended.
  std::optional<Completion<Result...>> wait_until(Clock::time_point time, ExecutorProbe& probe) {
    constexpr Clock::duration slice = std::chrono::seconds{1};
    std::unique_lock lock{mutex_};
    for (auto now = Clock::now(); !outcome_ && now < time && !probe.is_overdue(now); now = Clock::now())
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
template <class... Result>
struct CompleteMeeting {
  using executor_type = boost::asio::any_io_executor;
  using cancellation_slot_type = boost::asio::cancellation_slot;

  std::shared_ptr<Meeting<Result...>> meeting;
  executor_type executor;

  void operator()(error_code error, Result... result) { meeting->complete(error, std::move(result)...); }
  [[nodiscard]] executor_type get_executor() const noexcept { return executor; }
  [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return meeting->cancellation.slot(); }
};

/// How long the caller waits, after the deadline, for the operation's own result, which is more exact. An executor that
/// is not run, or is busy, gives none.
inline constexpr std::chrono::milliseconds last_word{50};

/// Like block_on, but only until the deadline on the caller's clock; then the result is `at_deadline`. Where nothing
/// runs the executor, the result is Error::executor_not_running, also without a deadline. The operation, which has the
/// same deadline, is cancelled, and a late result is destroyed, so that a lock is released.
template <class... Result, class Operation>
Completion<Result...> block_until(Deadline deadline, Error at_deadline, const Awaited& awaited, Operation&& operation) {
  if (!deadline && !awaited.max_silence)
    return block_on<Result...>(awaited.executor, std::forward<Operation>(operation));
  const auto meeting = std::make_shared<Meeting<Result...>>();
  ExecutorProbe probe{awaited};
  std::forward<Operation>(operation)(CompleteMeeting<Result...>{meeting, awaited.executor});
  constexpr Clock::duration longest = std::chrono::hours{24 * 365 * 100};
  const Clock::time_point now = Clock::now();
  const Clock::duration left = !deadline         ? longest
                               : *deadline > now ? std::min(*deadline - now, longest)
                                                 : Clock::duration::zero();
  if (auto outcome = meeting->wait_until(now + left + last_word, probe)) return std::move(*outcome);
  meeting->cancellation.emit(boost::asio::cancellation_type::terminal);
  Completion<Result...> overdue;
  overdue.error = make_error_code(probe.is_silent(Clock::now()) ? Error::executor_not_running : at_deadline);
  return overdue;
}

/// As above, for an operation of the client. Error::blocking_in_handler, and nothing is begun, on a thread that the
/// client's own work needs.
template <class... Result, class Operation>
Completion<Result...> block_until(Deadline deadline, Error at_deadline, const ClientHandle& client,
                                  Operation&& operation) {
  if (const error_code error = why_not_block(client)) {
    Completion<Result...> refused;
    refused.error = error;
    return refused;
  }
  return block_until<Result...>(deadline, at_deadline, awaited_of(client), std::forward<Operation>(operation));
}

}  // namespace zklock::detail

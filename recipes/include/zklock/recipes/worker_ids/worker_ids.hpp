// Small numbers, each of them one process's own, with the time stamps that it may use.
#pragma once

#include <zklock/client.hpp>
#include <zklock/clock.hpp>
#include <zklock/recipe_kit/wait_policy.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace zklock {

class Session;
class WorkerId;

/// All clients of one path use the same `count`.
struct WorkerIdSettings {
  static constexpr int max_count = 1 << 16;

  int count = 1'024;                  ///< the numbers are 0 to count - 1
  std::chrono::milliseconds tick{1};  ///< time stamps are multiples of it
  /// What time stamps are read from; may be called on any thread. Empty: std::chrono::system_clock.
  std::function<std::chrono::system_clock::time_point()> clock{};
};

namespace detail {
class Worker;
class WorkerIdsCore;
const ClientHandle& home_of(const WorkerIdsCore& ids);
const Session& home_of(const Worker& worker);
void start_acquire_worker_id(std::shared_ptr<WorkerIdsCore> ids, WaitPolicy wait, Handler<WorkerId> handler);
void start_release_worker_id(std::shared_ptr<Worker> worker, Deadline deadline, Handler<> handler);
void start_wait_worker_id_lost(std::shared_ptr<Worker> worker, Handler<> handler);
void release_in_background(const std::shared_ptr<Worker>& worker) noexcept;
}  // namespace detail

/// Holds a number, and releases it in the background at the end of its life.
///
/// No two processes get the same time stamp with the same number: neither clocks that differ or are set, nor pauses, nor
/// an operator who deletes the number's node under `ids` can bring that about. That another process believes to hold the
/// number is excluded until valid_until() only.
///
/// Threads: one at a time; any thread. The const functions may be called from any number of threads.
class [[nodiscard]] WorkerId {
 public:
  using TimeStamp = std::chrono::sys_time<std::chrono::milliseconds>;

  /// Holds nothing.
  WorkerId() noexcept = default;
  explicit WorkerId(std::shared_ptr<detail::Worker> worker) noexcept : worker_{std::move(worker)} {}
  WorkerId(WorkerId&&) noexcept = default;
  WorkerId& operator=(WorkerId&& other) noexcept {
    if (this != &other) {
      detail::release_in_background(worker_);
      worker_ = std::move(other.worker_);
    }
    return *this;
  }
  ~WorkerId() { detail::release_in_background(worker_); }

  /// Throws Error::empty_object if nothing was ever held.
  [[nodiscard]] int number() const;
  /// It is neither released nor lost.
  [[nodiscard]] bool is_held() const noexcept { return Clock::now() < valid_until(); }
  [[nodiscard]] explicit operator bool() const noexcept { return is_held(); }
  /// It is held until then at least: Session::valid_until, which is kept ahead. time_point{} once it is lost or released.
  [[nodiscard]] Clock::time_point valid_until() const noexcept;

  /// The time, if this process may use it with the number; no earlier than the last one, and the same one again within a
  /// tick. It stays this process's own, however late it is used. Asks no server.
  ///
  /// Empty: the number is lost or released; or the clock has been set, and the time is one that was used already, or is
  /// not reserved yet. In that case is_held() is true: try again soon.
  ///
  /// Throws Error::empty_object, Error::used_after_fork.
  [[nodiscard]] std::optional<TimeStamp> try_time_stamp() const;

  /// Releases the number: the next process may use the time stamps that follow the last one that was given.
  ///
  /// Signature     void(error_code)
  /// Completes     when the server has done it, or the number is lost; lost links are survived. A second release
  ///               completes with the first one.
  /// Errors        Error::no_auth, operation_aborted
  /// Cancellation  terminal, partial, total: they end the wait. The release goes on in the background.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_release(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_release_worker_id>(std::forward<Token>(token), worker_,
                                                                                Deadline{});
  }
  /// As above, waiting for at most `wait`. The release goes on in the background when the time is up.
  ///
  /// Signature     void(error_code)
  /// Errors        besides the above Error::timed_out
  template <class Rep, class Period, asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_release(std::chrono::duration<Rep, Period> wait, Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_release_worker_id>(std::forward<Token>(token), worker_,
                                                                                after(wait));
  }
  /// The same, blocking. Throws boost::system::system_error with the errors above; Error::blocking_in_handler on a
  /// thread that the client's work needs; Error::executor_not_running.
  void release();

  /// Waits until the number is lost: the session is over, or an operator has deleted the number's node.
  ///
  /// Signature     void(error_code)
  /// Completes     with success: with the session, a ninth of the session timeout after valid_until() at the latest;
  ///               after an operator's delete with the next extension, within two session timeouts.
  /// Errors        operation_aborted when cancelled, and when the number is released meanwhile
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_lost(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_wait_worker_id_lost>(std::forward<Token>(token), worker_);
  }

 private:
  std::shared_ptr<detail::Worker> worker_;
};

/// Gives numbers to processes, for ids that are made of a number and a time stamp without asking a server: docs/ids.md.
///
/// Threads: any thread may call anything but the destructor.
class WorkerIds {
 public:
  /// Throws boost::system::system_error: Error::invalid_path; Error::bad_arguments for a count below 1 or above
  /// WorkerIdSettings::max_count, and for a tick below 1 ms.
  WorkerIds(const ClientHandle& client, std::string path, WorkerIdSettings settings = {});
  /// A temporary Client would be closed at once.
  template <class... Rest>
  WorkerIds(Client&&, Rest&&...) = delete;

  [[nodiscard]] const std::string& path() const;

  /// Acquires a number. Each call gets one of its own.
  ///
  /// Signature     void(error_code, WorkerId)
  /// Completes     when a number is free whose last time stamps are past. That of a process that was killed is so
  ///               three session timeouts later at most. Lost links and sessions are survived: a lost session is as
  ///               often followed by a try on the next one as the client's retry policy allows.
  /// Errors        Error::timed_out; Error::not_connected (no connection within the client's connection_timeout),
  ///               Error::operation_timeout (too often), Error::session_expired, Error::auth_failed, Error::no_auth,
  ///               Error::closed, Error::closing, Error::too_many_watches, operation_aborted
  /// Cancellation  terminal, partial, total: no number is held.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <class Rep, class Period, asio::completion_token_for<void(error_code, WorkerId)> Token = asio::deferred_t>
  auto async_acquire(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_acquire(detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }
  template <asio::completion_token_for<void(error_code, WorkerId)> Token = asio::deferred_t>
  auto async_acquire(Token&& token = {}) const {
    return initiate_acquire(detail::WaitPolicy{}, std::forward<Token>(token));
  }

  // The same, blocking: they throw boost::system::system_error with the errors above; Error::blocking_in_handler on a
  // thread that the client's work needs; Error::executor_not_running.

  [[nodiscard]] WorkerId acquire() const { return *acquire(detail::WaitPolicy{}); }
  /// Empty: no number was free when the time was up.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<WorkerId> acquire(std::chrono::duration<Rep, Period> wait) const {
    return acquire(detail::WaitPolicy::of(wait));
  }

 private:
  template <class Token>
  auto initiate_acquire(detail::WaitPolicy wait, Token&& token) const {
    return detail::initiate<void(error_code, WorkerId), &detail::start_acquire_worker_id>(std::forward<Token>(token),
                                                                                          core_, wait);
  }
  std::optional<WorkerId> acquire(detail::WaitPolicy wait) const;

  std::shared_ptr<detail::WorkerIdsCore> core_;
};

}  // namespace zklock

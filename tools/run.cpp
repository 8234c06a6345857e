#include "run.hpp"

#include "await.hpp"
#include "command.hpp"
#include "connection.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "signals.hpp"

#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <exception>
#include <tuple>
#include <utility>
#include <variant>

namespace zklock::tools {
namespace {

using namespace asio::experimental::awaitable_operators;
using std::chrono::milliseconds;

/// The result of waiting in the queue. A coroutine in `a || b` must not throw: the other one would go on alone. Attempt
/// is not an aggregate: g++ 12 miscompiles those in expressions with co_await.
struct Attempt {
  Attempt() = default;
  explicit Attempt(error_code why) : error{why} {}
  explicit Attempt(std::tuple<error_code, Lease> result)
      : error{std::get<0>(result)}, lease{std::get<1>(std::move(result))} {}
  explicit Attempt(Lease granted) : lease{std::move(granted)} {}
  error_code error;
  Lease lease;
};

using Lock = std::variant<InterProcessMutex, InterProcessSemaphore, LeaderElection>;

Lock make_lock(const ClientHandle& client, const RunOptions& options) {
  const LockSettings settings{.max_hold = options.max_hold};
  if (options.mode == Mode::mutex) return InterProcessMutex{client, options.path, settings};
  if (options.mode == Mode::permit)
    return InterProcessSemaphore{client, options.path, options.permits, {.max_hold = options.max_hold}};
  const std::string& id = options.id ? *options.id : client.client_id();
  if (options.mode == Mode::latch) return LeaderLatch{client, options.path, id, {.priority = options.priority}};
  if (options.mode == Mode::selector) return LeaderSelector{client, options.path, id};
  InterProcessReadWriteLock lock{client, options.path, settings};
  return std::move(options.mode == Mode::shared ? lock.read_lock() : lock.write_lock());
}

template <class OneLock>
asio::awaitable<Attempt> acquire(const OneLock& lock, Deadline deadline) {
  if (!deadline) co_return Attempt{co_await lock.async_acquire(use_tuple)};
  co_return Attempt{co_await lock.async_acquire(*deadline - Clock::now(), use_tuple)};
}

asio::awaitable<Attempt> acquire(const LeaderElection& election, Deadline deadline) {
  const auto lead = [&] {
    return deadline ? election.async_lead(*deadline - Clock::now(), asio::use_awaitable_t<>{})
                    : election.async_lead(asio::use_awaitable_t<>{});
  };
  try {
    auto leading = lead();
    Leadership leadership = co_await std::move(leading);
    co_return Attempt{std::move(leadership).into_lease()};
  } catch (const boost::system::system_error& error) {
    co_return Attempt{error.code()};
  }
}

/// One `zklock run` or `zklock lead`. Its coroutines all run on the main thread.
class Run {
 public:
  Run(const RunOptions& options, Signals& signals, Command& command, const Connection& connection)
      : options_{options},
        signals_{signals},
        command_{command},
        connection_{connection},
        client_{connection.config(options.session_timeout)},
        lock_{make_lock(client_, options)} {}

  asio::awaitable<int> operator()() {
    auto waited = co_await (wait_in_queue() || interrupted());
    if (const int* signal = std::get_if<int>(&waited)) co_return status::of_signal(*signal);
    Attempt& attempt = std::get<Attempt>(waited);
    if (attempt.error) throw why_not(attempt.error);
    co_return co_await hold(attempt.lease);
  }

 private:
  asio::awaitable<Attempt> wait_in_queue() {
    const Deadline deadline = options_.timeout ? after(*options_.timeout) : Deadline{};
    // It connects first, so that an unreachable ZooKeeper is not mistaken for a long queue.
    auto [unreachable, session] = co_await client_.async_session(after(connect_wait()), use_tuple);
    if (unreachable) co_return Attempt{unreachable};
    auto acquiring = std::visit([&](const auto& lock) { return acquire(lock, deadline); }, lock_);
    co_return co_await std::move(acquiring);
  }

  [[nodiscard]] milliseconds connect_wait() const {
    const milliseconds wait = options_.timeout.value_or(milliseconds{0});
    return wait > wait.zero() ? std::min(wait, connect_limit) : connect_limit;
  }

  asio::awaitable<int> interrupted() {
    const signalfd_siginfo info = co_await signals_.next();
    co_return static_cast<int>(info.ssi_signo);
  }

  [[nodiscard]] Failure why_not(error_code error) const {
    if (error == Error::timed_out) {
      const milliseconds wait = *options_.timeout;
      const bool leads = options_.mode == Mode::latch || options_.mode == Mode::selector;
      const auto limit = wait > wait.zero() ? ", and was not free within " + format_duration(wait) : "";
      return {status::not_acquired, options_.path + (leads ? " is led" : " is held") + " by somebody else" + limit};
    }
    if (error == Error::not_connected) return connection_.unreachable(client_);
    return {status::unavailable, "lock " + options_.path + ": " + error.message()};
  }

  // ---- the lock is held

  asio::awaitable<int> hold(Lease& lease) {
    const auto [no_session, session] = co_await client_.async_session(Clock::now(), use_tuple);
    until_ = lease.valid_until();
    command_.start(options_.command.front(), environment_of(lease), until_);
    auto first = co_await (command_.ended() || forward_signals() || keep_command(lease) || end_when_lost(lease) ||
                           end_when_asked(lease) || warn_of_lost_links(lease));
    const Ended ended = std::get<0>(first);
    until_ = std::max(until_, lease.valid_until());
    const error_code error = co_await give_back(lease);
    // It is enough to hold the lock to the command's end: a session that ends later changes nothing. If a node was
    // deleted while its session lives, it is unknown when.
    const bool session_is_over = !no_session && is_final(session.state());
    const bool is_deleted = (is_lost_ || error == LockError::lock_lost) && !session_is_over;
    const bool in_time = ended.at <= until_ && !is_deleted;
    if (in_time && error == asio::error::operation_aborted)
      say("interrupted before ZooKeeper had taken " + options_.path + " back, its session's end will");
    else if (in_time && error)
      say("cannot give " + options_.path + " back, its session's end will: " + error.message());
    if (!in_time && !is_lost_) say(options_.path + " was lost, perhaps while the command still ran");
    co_return in_time ? ended.status : status::lock_lost;
  }

  /// A signal ends the wait for the server's reply, which may last until the session's end.
  asio::awaitable<error_code> give_back(Lease& lease) {
    const auto first = co_await (lease.async_release(use_tuple) || interrupted());
    if (const auto* released = std::get_if<std::tuple<error_code>>(&first)) co_return std::get<0>(*released);
    co_return asio::error::operation_aborted;
  }

  std::vector<std::string> environment_of(const Lease& lease) const {
    return {"ZKLOCK_FENCING_TOKEN=" + std::to_string(lease.fencing_token()), "ZKLOCK_LOCK_PATH=" + options_.path,
            "ZKLOCK_CONNECT=" + connection_.connect_string()};
  }

  // None of these coroutines returns: the command's end ends them.

  asio::awaitable<void> forward_signals() {
    for (;;) {
      const signalfd_siginfo info = co_await signals_.next();
      // A terminal sends its signals to the whole process group.
      command_.signal(static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL);
    }
  }

  /// Tells the command's guard how long the lock is held. If the command is to end, it repeats that order, since a
  /// stopped guard may miss it.
  asio::awaitable<void> keep_command(const Lease& lease) {
    Timer timer{co_await asio::this_coro::executor};
    for (;;) {
      if (!is_lost_) {
        until_ = std::max(until_, lease.valid_until());
        command_.keep_until(until_);
      }
      if (is_ending_) command_.end();
      const Clock::duration shortest = is_lost_ ? milliseconds{1'000} : milliseconds{10};
      timer.expires_after(std::max<Clock::duration>((until_ - Clock::now()) / 4, shortest));
      co_await timer.async_wait(asio::use_awaitable);
    }
  }

  void end_command() {
    is_ending_ = true;
    command_.end();
  }

  asio::awaitable<void> end_when_lost(Lease& lease) {
    co_await lease.async_wait_lost(asio::use_awaitable);
    // The server may have ended the session long before its timeout, against its promise.
    until_ = std::min(until_, Clock::now());
    is_lost_ = true;
    const bool is_over_limit = lease.cause_of_loss() == "max_hold_passed";
    say(options_.path + (is_over_limit ? " was held for as long as --max-hold allows" : " is lost with its session") +
        ": ending the command");
    end_command();
    co_await wait_for_ever();
  }

  asio::awaitable<void> end_when_asked(Lease& lease) {
    if (options_.revocable) {
      const auto [lost] = co_await lease.async_wait_revocation(use_tuple);
      if (!lost) {
        say("somebody asks for " + options_.path + ": ending the command");
        end_command();
      }
    }
    co_await wait_for_ever();
  }

  static asio::awaitable<void> wait_for_ever() {
    AsyncEvent never{co_await asio::this_coro::executor};
    const auto [cancelled] = co_await never.wait();
    throw boost::system::system_error{cancelled};
  }

  asio::awaitable<void> warn_of_lost_links(const Lease& lease) {
    StateStream states = client_.states();
    for (;;) {
      const ConnectionState state = co_await states.async_next(asio::use_awaitable);
      if (state == ConnectionState::suspended)
        say("warning: no link to ZooKeeper; the lock is kept for the session timeout, the command goes on");
      if (state == ConnectionState::reconnected && lease.is_held()) say("the link is back, the lock is still held");
    }
  }

  const RunOptions& options_;
  Signals& signals_;
  Command& command_;
  const Connection& connection_;
  Client client_;
  Lock lock_;
  Clock::time_point until_;  ///< the lock was held until then at least
  bool is_lost_ = false;     ///< while the command ran
  bool is_ending_ = false;   ///< the command was told to end
};

}  // namespace

int run(const RunOptions& options) {
  asio::io_context context{1};
  // Both come before any thread is started: the threads must leave the signals to this object, and a fork needs a
  // process without other threads.
  Signals signals{context.get_executor(), {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}};
  GuardProcess guard{options, signals.mask_before()};
  Command command{context.get_executor(), guard};
  const Connection connection{options.where};
  Run body{options, signals, command, connection};
  int status = 0;
  std::exception_ptr thrown;
  asio::co_spawn(context, body(), [&](std::exception_ptr error, int result) {
    thrown = std::move(error);
    status = result;
  });
  context.run();
  if (thrown) std::rethrow_exception(thrown);
  return status;
}

}  // namespace zklock::tools

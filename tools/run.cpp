#include "run.hpp"

#include "command.hpp"
#include "connection.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "signals.hpp"

#include <zklock/recipes/inter_process_read_write_lock.hpp>
#include <zklock/recipes/inter_process_semaphore.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <tuple>
#include <utility>
#include <variant>

namespace zklock::tools {
namespace {

using namespace asio::experimental::awaitable_operators;
using std::chrono::milliseconds;

constexpr auto use_tuple = asio::as_tuple(asio::use_awaitable);

/// The end of waiting in line. What runs beside something else in `a || b` must not throw: the other would go on alone.
/// Not an aggregate: g++ 12 miscompiles those in expressions with co_await.
struct Attempt {
  Attempt() = default;
  explicit Attempt(error_code why) : error{why} {}
  explicit Attempt(std::tuple<error_code, Lease> result)
      : error{std::get<0>(result)}, lease{std::get<1>(std::move(result))} {}
  error_code error;
  Lease lease;
};

using Lock = std::variant<InterProcessMutex, InterProcessSemaphore>;

Lock make_lock(const ClientHandle& client, const RunOptions& options) {
  if (options.mode == Mode::mutex) return InterProcessMutex{client, options.path};
  if (options.mode == Mode::permit) return InterProcessSemaphore{client, options.path, options.permits};
  InterProcessReadWriteLock lock{client, options.path};
  return std::move(options.mode == Mode::shared ? lock.read_lock() : lock.write_lock());
}

template <class OneLock>
asio::awaitable<Attempt> acquire(const OneLock& lock, Deadline deadline) {
  if (!deadline) co_return Attempt{co_await lock.async_acquire(use_tuple)};
  co_return Attempt{co_await lock.async_acquire(*deadline - Clock::now(), use_tuple)};
}

/// One `zklock run`. Its coroutines all run on the main thread.
class Run {
 public:
  Run(const RunOptions& options, Signals& signals, const Connection& connection)
      : options_{options},
        signals_{signals},
        connection_{connection},
        client_{connection.config(options.session_timeout)},
        lock_{make_lock(client_, options)} {}

  asio::awaitable<int> operator()() {
    auto waited = co_await (wait_in_line() || interrupted());
    if (const int* signal = std::get_if<int>(&waited)) co_return status::of_signal(*signal);
    Attempt& attempt = std::get<Attempt>(waited);
    if (attempt.error) throw why_not(attempt.error);
    co_return co_await hold(attempt.lease);
  }

 private:
  asio::awaitable<Attempt> wait_in_line() {
    const Deadline deadline = options_.timeout ? after(*options_.timeout) : Deadline{};
    // A connection first, so that a ZooKeeper out of reach is not mistaken for a long line.
    auto [unreachable, session] = co_await client_.async_session(after(connect_wait()), use_tuple);
    if (unreachable) co_return Attempt{unreachable};
    auto acquiring = std::visit([&](const auto& lock) { return acquire(lock, deadline); }, lock_);
    co_return co_await std::move(acquiring);
  }

  [[nodiscard]] milliseconds connect_wait() const {
    const milliseconds wait = options_.timeout.value_or(milliseconds{0});
    return wait > wait.zero() ? std::min(wait, connect_patience) : connect_patience;
  }

  asio::awaitable<int> interrupted() {
    for (;;) {
      const signalfd_siginfo info = co_await signals_.next();
      if (info.ssi_signo != SIGCHLD) co_return static_cast<int>(info.ssi_signo);
    }
  }

  [[nodiscard]] Failure why_not(error_code error) const {
    if (error == Error::timed_out) {
      const milliseconds wait = *options_.timeout;
      const auto patience = wait > wait.zero() ? ", and was not free within " + format_duration(wait) : "";
      return {status::not_acquired, options_.path + " is held by somebody else" + patience};
    }
    if (error == Error::connection_loss) return connection_.unreachable(connect_wait());
    return {status::unavailable, "lock " + options_.path + ": " + error.message()};
  }

  // ---- the lock is held

  asio::awaitable<int> hold(Lease& lease) {
    Command command{options_.command,
                    {{"ZKLOCK_FENCING_TOKEN", std::to_string(lease.fencing_token())},
                     {"ZKLOCK_LOCK_PATH", options_.path},
                     {"ZKLOCK_CONNECT", connection_.connect_string()}},
                    signals_.mask_before()};
    co_await (forward_signals_until_end(command) || end_when_lost(lease, command) || end_when_asked(lease, command) ||
              warn_of_lost_links(lease));
    if (lease.state() == LeaseState::lost) co_return status::lock_lost;
    const auto [error] = co_await lease.async_release(use_tuple);
    if (error == Error::lock_lost) {
      say(options_.path + " was lost before it could be given back, perhaps while the command still ran");
      co_return status::lock_lost;
    }
    if (error) say("cannot give " + options_.path + " back, its session's end will: " + error.message());
    co_return *command.exit_status();
  }

  asio::awaitable<void> forward_signals_until_end(Command& command) {
    while (!command.exit_status()) {
      const signalfd_siginfo info = co_await signals_.next();
      if (info.ssi_signo == SIGCHLD) continue;
      // A terminal sends its signals to the whole process group: the command has had it.
      if (info.ssi_code == SI_KERNEL && command.in_our_process_group()) continue;
      command.signal(static_cast<int>(info.ssi_signo));
    }
  }

  // These two never return: it is over when the command has ended.

  asio::awaitable<void> end_when_lost(Lease& lease, const Command& command) {
    co_await lease.async_wait_lost(asio::use_awaitable);
    say(options_.path + " is lost with its session: ending the command");
    co_await end(command);
  }

  asio::awaitable<void> end_when_asked(Lease& lease, const Command& command) {
    if (options_.revocable) {
      const auto [lost] = co_await lease.async_wait_revocation(use_tuple);
      if (!lost) {
        say("somebody asks for " + options_.path + ": ending the command");
        co_await end(command);
      }
    }
    co_await wait_for_ever();
  }

  asio::awaitable<void> end(const Command& command) {
    command.signal(SIGTERM);
    command.signal(SIGCONT);  // a stopped process does not hear SIGTERM
    Timer timer{co_await asio::this_coro::executor, *after(options_.kill_after)};
    co_await timer.async_wait(asio::use_awaitable);
    say("the command has not ended within " + format_duration(options_.kill_after) + ": killing it");
    command.signal(SIGKILL);
    co_await wait_for_ever();
  }

  static asio::awaitable<void> wait_for_ever() {
    Timer timer{co_await asio::this_coro::executor, Clock::time_point::max()};
    co_await timer.async_wait(asio::use_awaitable);
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
  const Connection& connection_;
  Client client_;
  Lock lock_;
};

}  // namespace

int run(const RunOptions& options) {
  asio::io_context context{1};
  // Before any thread is started: they all must leave the signals to us.
  Signals signals{context.get_executor(), {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}};
  const Connection connection{options.where};
  Run body{options, signals, connection};
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

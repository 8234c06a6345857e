#include "workload.hpp"

#include "observers.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <array>
#include <chrono>
#include <optional>
#include <thread>

namespace zklock::bench {
namespace {

namespace asio = boost::asio;
using Mark = std::function<void()>;

enum class Release { awaited, left_to_the_lease };

/// Heartbeats and renewals of a long session are rare.
ClientConfig config(const std::string& server, Heard heard = Heard::by_nobody) {
  return {.connect_string = server, .session_timeout = std::chrono::seconds{40}, .observers = make_observers(heard)};
}

asio::awaitable<void> cycles(InterProcessMutex mutex, Release release, int count) {
  for (int i = 0; i < count; ++i) {
    Lease lease = co_await mutex.async_acquire();
    if (release == Release::awaited) co_await lease.async_release();
  }
}

/// Runs everything on one thread.
void run_waiters(const ClientConfig& config, int waiters, Release release, int locks, const Mark& begin,
                 const Mark& end) {
  asio::io_context context{1};
  std::optional<Client> client{std::in_place, context.get_executor(), config};
  const auto round = [&] {
    int left = waiters;
    for (int i = 0; i < waiters; ++i)
      asio::co_spawn(context, cycles(InterProcessMutex{*client, "/count/lock"}, release, locks / waiters),
                     [&](std::exception_ptr thrown) {
                       if (thrown) std::rethrow_exception(thrown);
                       --left;
                     });
    while (left > 0) context.run_one();
  };
  round();
  begin();
  round();
  end();
  client->async_close([&](error_code) { context.stop(); });
  context.restart();
  context.run();
  client.reset();
}

template <int waiters, Release release, Heard heard = Heard::by_nobody>
void asynchronous(const std::string& server, int locks, const Mark& begin, const Mark& end) {
  run_waiters(config(server, heard), waiters, release, locks, begin, end);
}

void run_blocking(InterProcessMutex& mutex, int locks, const Mark& begin, const Mark& end) {
  const auto round = [&] {
    for (int i = 0; i < locks; ++i) {
      mutex.lock();
      mutex.unlock();
    }
  };
  round();
  begin();
  round();
  end();
}

void blocking(const std::string& server, int locks, const Mark& begin, const Mark& end) {
  Client client{config(server)};
  InterProcessMutex mutex{client, "/count/lock"};
  run_blocking(mutex, locks, begin, end);
}

/// While it counts, nothing else runs: the I/O thread, which now and then writes how often the lock is held, would add
/// its work by the time that this takes.
void enter_again(const std::string& server, int locks, const Mark& begin, const Mark& end) {
  asio::io_context context{1};
  Client client{context.get_executor(), config(server)};
  InterProcessMutex mutex{client, "/count/lock"};
  const auto while_it_runs = [&](const auto& step) {
    context.restart();
    const auto work = asio::make_work_guard(context);
    std::jthread io{[&] { context.run(); }};
    step();
    context.stop();
  };
  while_it_runs([&] { mutex.lock(); });
  run_blocking(mutex, locks, begin, end);
  while_it_runs([&] {
    mutex.unlock();
    client.async_close(asio::use_future).get();  // or else its node would keep the lock until the session times out
  });
}

}  // namespace

std::span<const Workload> workloads() {
  static const std::array all{
      Workload{"release-awaited", asynchronous<1, Release::awaited>},
      Workload{"lease", asynchronous<1, Release::left_to_the_lease>},
      Workload{"blocking", blocking},
      Workload{"contended-8", asynchronous<8, Release::awaited>},
      Workload{"contended-64", asynchronous<64, Release::awaited>, false},
      Workload{"re-entry", enter_again},
      Workload{"observed", asynchronous<1, Release::awaited, Heard::by_a_counter>},
      Workload{"audited", asynchronous<1, Release::awaited, Heard::by_an_audit_log>},
  };
  return all;
}

}  // namespace zklock::bench

#include "workload.hpp"

#include "counters.hpp"
#include "observers.hpp"

#include <zklock/recipes/caches/curator_cache.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <future>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

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

/// The paths of the watches may have half of max_buffer.
ClientConfig config_for(const std::string& server, int number) {
  ClientConfig config = zklock::bench::config(server);
  config.max_buffer = std::max(config.max_buffer, static_cast<std::size_t>(number) * 100);
  return config;
}

template <class Condition>
void wait_until(Condition condition) {
  const auto latest = std::chrono::steady_clock::now() + std::chrono::minutes{5};
  while (!condition()) {
    if (std::chrono::steady_clock::now() > latest) throw std::runtime_error{"it is not there in time"};
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

void create_all(const Client& client, const std::vector<std::string>& paths) {
  const std::string data(64, 'x');
  std::vector<std::future<CreateResult>> made;
  for (const std::string& path : paths)
    made.push_back(client.async_create(path, data, CreateOptions{CreateMode::persistent}, asio::use_future));
  for (auto& each : made) each.get();
}

/// Persistent leaves with 64 bytes, in a hundred directories.
void plant(const Client& client, const std::string& root, int leaves) {
  std::vector<std::string> directories;
  for (int i = 0; i < 100; ++i) directories.push_back(root + "/" + std::to_string(i));
  std::vector<std::string> paths;
  for (int i = 0; i < leaves; ++i)
    paths.push_back(directories[static_cast<std::size_t>(i % 100)] + "/" + std::to_string(i / 100));
  create_all(client, {root});
  create_all(client, directories);
  create_all(client, paths);
}

double bytes_a_leaf(const std::string& server, int leaves) {
  plant(Client{config_for(server, leaves)}, "/t", leaves);
  Client client{config_for(server, leaves)};
  wait_until([&] { return client.state() == ConnectionState::connected; });
  const double before = bytes_in_use();
  const CuratorCache cache{client, "/t"};
  wait_until([&] { return cache.freshness().state == Freshness::State::live; });
  const double bytes = bytes_in_use() - before;
  client.abort();
  return bytes / static_cast<double>(cache.size());
}

double bytes_a_waiter(const std::string& server, int waiters) {
  Client client{config_for(server, waiters)};
  const InterProcessMutex mutex{client, "/count/crowd"};
  const Lease first = mutex.async_acquire(asio::use_future).get();
  const double before = bytes_in_use();
  for (int i = 0; i < waiters; ++i) mutex.async_acquire([](error_code, const Lease&) {});
  wait_until(
      [&] { return client.async_exists("/count/crowd", asio::use_future).get().value().num_children == waiters + 1; });
  const double bytes = bytes_in_use() - before;
  client.abort();
  return bytes / waiters;
}

}  // namespace

std::span<const Footprint> footprints() {
  static const std::array all{Footprint{"leaf", 10'000, bytes_a_leaf}, Footprint{"waiter", 1'000, bytes_a_waiter}};
  return all;
}

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

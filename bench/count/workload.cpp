#include "workload.hpp"

#include <zklock/recipes/inter_process_mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <array>
#include <chrono>
#include <optional>

namespace zklock::bench {
namespace {

namespace asio = boost::asio;
using Mark = std::function<void()>;

enum class Release { awaited, left_to_the_lease };

ClientConfig config(const std::string& server) {
  return {.connect_string = server, .session_timeout = std::chrono::seconds{10}};
}

asio::awaitable<void> cycles(InterProcessMutex mutex, Release release, int count) {
  for (int i = 0; i < count; ++i) {
    Lease lease = co_await mutex.async_acquire();
    if (release == Release::awaited) co_await lease.async_release();
  }
}

/// Everything on one thread.
void run_waiters(const std::string& server, int waiters, Release release, int locks, const Mark& begin,
                 const Mark& end) {
  asio::io_context context{1};
  std::optional<Client> client{std::in_place, context.get_executor(), config(server)};
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

template <int waiters, Release release>
void asynchronous(const std::string& server, int locks, const Mark& begin, const Mark& end) {
  run_waiters(server, waiters, release, locks, begin, end);
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

void enter_again(const std::string& server, int locks, const Mark& begin, const Mark& end) {
  Client client{config(server)};
  InterProcessMutex mutex{client, "/count/lock"};
  mutex.lock();
  run_blocking(mutex, locks, begin, end);
  mutex.unlock();
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
  };
  return all;
}

}  // namespace zklock::bench

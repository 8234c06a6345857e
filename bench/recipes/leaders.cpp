#include "orders.hpp"
#include "usage.hpp"

#include <zklock/recipes/leader/leader_latch.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <future>
#include <iostream>

namespace zklock::bench {
namespace {

/// From the grant to the resignation, in nanoseconds.
struct Turn {
  std::int64_t led = 0;
  std::int64_t resigned = 0;
};

asio::awaitable<void> stand(LeaderLatch latch, std::chrono::milliseconds hold, const std::atomic<bool>& stopping,
                            std::vector<Turn>& turns) {
  while (!stopping) {
    Leadership leadership = co_await latch.async_lead();
    const std::int64_t led = now();
    if (hold.count() > 0) {
      Timer timer{co_await asio::this_coro::executor, hold};
      co_await timer.async_wait(asio::deferred);
    }
    turns.push_back({led, now()});
    co_await leadership.async_resign();
  }
}

std::string run(Clients& clients, const Task& task, std::chrono::milliseconds ramp, std::chrono::milliseconds length) {
  std::atomic<bool> stopping{false};
  std::vector<Turn> turns;  // all candidates are on one thread
  std::vector<std::future<void>> standing;
  for (Client& client : clients.all())
    standing.push_back(asio::co_spawn(
        clients.context(),
        stand(LeaderLatch{client, task.path, "candidate"}, std::chrono::milliseconds{task.hold_ms}, stopping, turns),
        asio::use_future));
  std::this_thread::sleep_for(ramp);
  say("begin");
  const double cpu_before = cpu_seconds();
  const std::int64_t began = now();
  std::this_thread::sleep_for(length);
  const std::int64_t ended = now();
  const double cpu = cpu_seconds() - cpu_before;
  say("end");
  stopping = true;
  for (auto& each : standing) each.get();
  std::ostringstream line;
  line << R"({"began": )" << began << R"(, "ended": )" << ended << R"(, "cpu_seconds": )" << cpu << R"(, "turns": [)";
  for (const char* separator = ""; const Turn& turn : turns) {
    line << separator << '[' << turn.led << ", " << turn.resigned << ']';
    separator = ", ";
  }
  line << "]}";
  return line.str();
}

}  // namespace

void candidates(const Task& task) {
  Clients clients;
  clients.connect(task, task.clients);
  obey({{"run", [&](std::istringstream& words) {
           int ramp = 0;
           int length = 0;
           words >> ramp >> length;
           return run(clients, task, std::chrono::milliseconds{ramp}, std::chrono::milliseconds{length});
         }}});
}

void lead(const Task& task) {
  Client client{
      {.connect_string = task.servers, .session_timeout = std::chrono::milliseconds{task.session_timeout_ms}}};
  if (!client.wait_connected(std::chrono::seconds{20})) throw std::runtime_error{"no connection"};
  const LeaderLatch latch{client, task.path, "candidate"};
  Leadership leadership;
  obey({{"acquire", [&](std::istringstream&) {
           leadership = latch.lead();
           return "held";
         }}});
}

}  // namespace zklock::bench

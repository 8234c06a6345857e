#include "orders.hpp"

#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <stdexcept>

namespace zklock::bench {
namespace {

asio::awaitable<void> stand(LeaderLatch latch, std::chrono::milliseconds hold, Work& work) {
  do {
    Leadership leadership = co_await latch.async_lead();
    const std::int64_t led = now();
    if (hold.count() > 0) {
      Timer timer{co_await asio::this_coro::executor, hold};
      co_await timer.async_wait(asio::deferred);
    }
    work.add("turns", led, now());
    co_await leadership.async_resign();
  } while (!work.stopping());
}

}  // namespace

void candidates(const Task& task) {
  Clients clients;
  clients.connect(task, task.clients);
  obey({{"run", [&](std::istringstream& words) {
           Work work;
           Work::Workers standing;
           for (Client& client : clients.all())
             standing.push_back(
                 stand(LeaderLatch{client, task.path, "candidate"}, std::chrono::milliseconds{task.hold_ms}, work));
           work.run(clients, words, std::move(standing));
           return work.answer();
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

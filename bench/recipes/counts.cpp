#include "orders.hpp"

#include <zklock/recipes/barriers/distributed_double_barrier.hpp>
#include <zklock/recipes/counters/distributed_atomic.hpp>
#include <zklock/recipes/shared/shared_count.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace zklock::bench {
namespace {

asio::awaitable<void> increment(SharedCount count, Work& work) {
  auto known = co_await count.async_get();
  do {
    const std::int64_t asked = now();
    for (bool is_set = false; !is_set;) {
      const auto exchange = co_await count.async_compare_and_set(known, known.value + 1);
      is_set = exchange.is_set;
      known = exchange.current.value();
    }
    work.add("increments", asked, now());
  } while (!work.stopping());
}

/// When a stream has told of this value.
asio::awaitable<std::int64_t> hear(FollowStream<ValueChange<std::int32_t>>& values, std::int32_t awaited) {
  for (;;) {
    const auto change = co_await values.async_next();
    if (change.value && change.value->value == awaited) co_return now();
  }
}

asio::awaitable<void> set_and_hear(SharedCount count, SharedCount followed, Work& work) {
  using namespace asio::experimental::awaitable_operators;
  auto values = followed.values();
  auto known = co_await count.async_get();
  do {
    const std::int64_t asked = now();
    const std::int32_t next = known.value + 1;
    std::int64_t heard = 0;
    std::tie(known, heard) = co_await (count.async_set(next, asio::use_awaitable) && hear(values, next));
    work.add("heard", asked, heard);
  } while (!work.stopping());
}

asio::awaitable<void> increment_atomic(DistributedAtomicLong count, Work& work) {
  do {
    const std::int64_t asked = now();
    co_await count.async_increment();
    work.add("increments", asked, now());
  } while (!work.stopping());
}

/// All members end after the same round: the first that has left it decides. Each round has a path of its own, since
/// Curator's members that enter again meet those that still leave.
asio::awaitable<void> meet(ClientHandle client, const Task& task, std::map<int, bool>& is_last, Work& work) {
  for (int round = 0;; ++round) {
    const std::int64_t asked = now();
    const DistributedDoubleBarrier barrier{client, task.path + "/" + std::to_string(round),
                                           static_cast<int>(task.waiters)};
    BarrierMembership membership = co_await barrier.async_enter();
    co_await membership.async_leave();
    work.add("rounds", asked, now());
    if (is_last.try_emplace(round, work.stopping()).first->second) co_return;
  }
}

}  // namespace

void counters(const Task& task) {
  Clients clients;
  clients.connect(task, task.clients);
  obey({{"run", [&](std::istringstream& words) {
           const SharedCount count{clients.all().front(), task.path, 0};
           const std::int32_t before = count.get().value;
           Work work;
           Work::Workers incrementing;
           for (Client& client : clients.all())
             incrementing.push_back(increment(SharedCount{client, task.path, 0}, work));
           work.run(clients, words, std::move(incrementing));
           return work.answer(R"(, "grown": )" + std::to_string(count.get().value - before));
         }}});
}

void atomics(const Task& task) {
  Clients clients;
  clients.connect(task, task.clients);
  obey({{"run", [&](std::istringstream& words) {
           std::vector<DistributedAtomicLong> counts;  // one of each client, which combines what is asked of it
           for (Client& client : clients.all()) counts.emplace_back(client, task.path);
           const std::int64_t before = counts.front().get();
           Work work;
           Work::Workers incrementing;
           for (std::size_t i = 0; i < task.waiters; ++i)
             incrementing.push_back(increment_atomic(counts[i % counts.size()], work));
           work.run(clients, words, std::move(incrementing));
           return work.answer(R"(, "grown": )" + std::to_string(counts.front().get() - before));
         }}});
}

void double_barriers(const Task& task) {
  Clients clients;
  clients.connect(task, task.clients);
  obey({{"run", [&](std::istringstream& words) {
           Work work;
           std::map<int, bool> is_last;
           Work::Workers members;
           for (std::size_t i = 0; i < task.waiters; ++i)
             members.push_back(meet(clients.all()[i % task.clients], task, is_last, work));
           work.run(clients, words, std::move(members));
           return work.answer();
         }}});
}

void count_listener(const Task& task) {
  Clients clients;
  clients.connect(task, 2);
  obey({{"run", [&](std::istringstream& words) {
           Work work;
           Work::Workers workers;
           workers.push_back(set_and_hear(SharedCount{clients.all().front(), task.path, 0},
                                          SharedCount{clients.all().back(), task.path, 0}, work));
           work.run(clients, words, std::move(workers));
           return work.answer();
         }}});
}

}  // namespace zklock::bench

#include "orders.hpp"

#include <zklock/recipes/shared/shared_count.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

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

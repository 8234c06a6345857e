// A service that uses a lock, tested without a server: every fault at every step of two sellers in one shop.
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/testing/exploration.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/as_tuple.hpp>

#include <algorithm>
#include <iostream>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

/// The resource that the lock protects. Given a fencing token, it refuses a token older than one that it has seen.
struct Shop {
  int stock = 10;
  int sold = 0;
  std::int64_t newest = 0;

  int look(std::int64_t token) {
    newest = std::max(newest, token);
    return stock;
  }
  void sell(int seen, std::int64_t token) {
    if (token < newest) return;
    stock = seen - 1;
    ++sold;
  }
};

asio::awaitable<void> sell_one(Simulation& world, std::string who, Shop& shop, bool fenced) {
  const InterProcessMutex mutex{world.client(who), "/shop"};
  auto acquire = world.operation<Lease>(who, {"acquire"}, [&](auto token) { mutex.async_acquire(std::move(token)); });
  const auto [error, lease] = co_await std::move(acquire);
  if (error) co_return;
  const std::int64_t token = fenced ? lease.fencing_token() : 0;
  const int seen = shop.look(token);
  Timer packing{world.executor(), 1s};
  co_await packing.async_wait(asio::as_tuple(asio::deferred));
  shop.sell(seen, token);
}

ExplorationReport explore_the_shop(bool fenced) {
  const auto two_sellers = [fenced](Simulation& world) {
    const auto shop = std::make_shared<Shop>();
    for (const std::string who : {"ann", "bob"})
      world.actor([&world, who, shop, fenced] { return sell_one(world, who, *shop, fenced); });
    world.invariant("what is sold is gone", [shop] { return shop->stock + shop->sold == 10; });
  };
  return explore(two_sellers, {.max_failures = 1});
}

int main() {
  const ExplorationReport careless = explore_the_shop(false);
  for (const auto& failure : careless.failures)
    std::cout << "careless: " << failure.what << ", with " << failure.replay << '\n';
  const ExplorationReport fenced = explore_the_shop(true);
  std::cout << "fenced: " << (fenced ? "nothing found" : "wrong") << " in " << fenced.runs << " runs\n";
}

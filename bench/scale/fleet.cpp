#include "fleet.hpp"

#include <zklock/recipe_kit/random.hpp>
#include <zklock/recipes/locks/lock_registry.hpp>
#include <zklock/testing/fake_ensemble.hpp>
#include <zklock/testing/manual_clock.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace zklock::bench {
namespace {

using namespace std::chrono_literals;

/// Draws names by their weights; integers alone, so that every machine draws the same.
class Names {
 public:
  Names(std::size_t number, Load load) {
    constexpr std::uint64_t first = 1'000'000'000;
    for (std::size_t i = 0; i < number; ++i) sums_.push_back(load == Load::even ? first : first / (i + 1));
    std::partial_sum(sums_.begin(), sums_.end(), sums_.begin());
  }
  [[nodiscard]] std::size_t size() const noexcept { return sums_.size(); }
  [[nodiscard]] static std::string at(std::size_t number) { return "name-" + std::to_string(number); }
  [[nodiscard]] std::string draw() const {
    const auto place = std::ranges::upper_bound(sums_, random_bits() % sums_.back());
    return at(static_cast<std::size_t>(place - sums_.begin()));
  }

 private:
  std::vector<std::uint64_t> sums_;
};

struct Books {
  bool counting = false;
  bool stopping = false;
  std::vector<Clock::duration> waits{};
  std::map<std::string, std::size_t> locks{};  // of each ensemble
};

/// Locks every `step`-th name once. The first lock of a name costs five writes instead of two, since there is no
/// directory yet: without this the counted time would show how many names are new, which depends on the speed.
asio::awaitable<void> make_directories(const LockRegistry& registry, const Names& names, std::size_t number,
                                       std::size_t step) {
  for (; number < names.size(); number += step) {
    Lease lease = co_await registry.async_lock(Names::at(number), Isolation::write);
    co_await lease.async_release();
  }
}

asio::awaitable<void> work(const LockRegistry& registry, const Names& names, Books& books) {
  while (!books.stopping) {
    const std::string name = names.draw();
    const auto asked = Clock::now();
    Lease lease = co_await registry.async_lock(name, Isolation::write);
    const auto waited = Clock::now() - asked;
    co_await lease.async_release();
    if (!books.counting) continue;
    books.waits.push_back(waited);
    ++books.locks[registry.ensemble_of(name)];
  }
}

/// Everything is in one thread, and goes the same way each time.
class World {
 public:
  World(const Fleet& fleet, std::size_t ensembles, Load load) : names_{fleet.names, load} {
    seed_random_bits(1);
    for (std::size_t i = 0; i < ensembles; ++i)
      ensembles_.emplace_back(context_.get_executor(),
                              testing::FakeEnsembleOptions{
                                  .container_check = 1h, .latency = fleet.one_way, .write_time = fleet.write_time});
    for (std::size_t i = 0; i < fleet.processes; ++i) registries_.push_back(make_registry());
  }
  ~World() {
    for (Client& client : clients_) client.async_close(asio::bind_executor(context_, [](error_code) {}));
    run(1min);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void run(Clock::duration time) { clock_.run_for(context_, time); }
  void make_directories() {
    for (std::size_t i = 0; i < registries_.size(); ++i)
      spawn(bench::make_directories(registries_[i], names_, i, registries_.size()));
    run_until_done();
  }
  void start(std::size_t workers) {
    for (const LockRegistry& registry : registries_)
      for (std::size_t i = 0; i < workers; ++i) spawn(work(registry, names_, books));
  }
  void stop() {
    books.stopping = true;
    run_until_done();
  }

  Books books;

 private:
  void spawn(asio::awaitable<void> task) {
    ++at_work_;
    asio::co_spawn(context_, std::move(task), [this](const std::exception_ptr& thrown) {
      --at_work_;
      if (thrown) std::rethrow_exception(thrown);
    });
  }
  void run_until_done() {
    for (int seconds = 0; at_work_ > 0; ++seconds) {
      if (seconds == 300) throw std::runtime_error{"a worker waits for ever"};
      run(1s);
    }
  }
  LockRegistry make_registry() {
    std::vector<RegistryEnsemble> parts;
    for (testing::FakeEnsemble& ensemble : ensembles_) {
      Client& client = clients_.emplace_back(ensemble.make_client(context_.get_executor()));
      parts.push_back({.name = "ensemble-" + std::to_string(parts.size() + 1), .client = client});
    }
    return {parts, "/locks"};
  }

  testing::ManualClock clock_;
  asio::io_context context_{1};
  Names names_;
  std::deque<testing::FakeEnsemble> ensembles_;
  std::deque<Client> clients_;
  std::deque<LockRegistry> registries_;
  std::size_t at_work_ = 0;
};

double milliseconds_of(const std::vector<Clock::duration>& sorted, double share) {
  const auto place = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
  return std::chrono::duration<double, std::milli>{sorted[place]}.count();
}

}  // namespace

Outcome simulate(const Fleet& fleet, std::size_t ensembles, Load load) {
  World world{fleet, ensembles, load};
  world.run(1s);  // all clients connect
  world.make_directories();
  world.start(fleet.workers);
  world.run(fleet.ramp);
  world.books.counting = true;
  world.run(fleet.counted);
  world.books.counting = false;
  world.stop();
  std::vector<Clock::duration>& waits = world.books.waits;
  std::ranges::sort(waits);
  const auto total = static_cast<double>(waits.size());
  const auto busiest = std::ranges::max_element(world.books.locks, {}, [](const auto& each) { return each.second; });
  return {.locks_per_s = total / std::chrono::duration<double>{fleet.counted}.count(),
          .busiest = static_cast<double>(busiest->second) / total,
          .p50_ms = milliseconds_of(waits, 0.5),
          .p99_ms = milliseconds_of(waits, 0.99)};
}

}  // namespace zklock::bench

// Numbers a block at a time, on the fake ensemble.
#include "support/exploration.hpp"
#include "support/follow_stage.hpp"

#include <zklock/recipes/counters/cached_atomic.hpp>

#include <set>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

using Number = CachedAtomicLong::Number;

const std::string path = "/counters/ids";

struct Fixture : FollowStage {
  DistributedAtomicLong counter{reader, path};

  std::tuple<error_code, Number> next(const CachedAtomicLong& ids) {
    return outcome<Number>([&](auto token) { ids.async_next(std::move(token)); }).value();
  }
  std::int64_t must(const CachedAtomicLong& ids) {
    const auto [error, number] = next(ids);
    REQUIRE_FALSE(error);
    CHECK(number.after == number.before + 1);
    return number.before;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "numbers of a block cost no request, and follow one another") {
  const CachedAtomicLong ids{counter, 100};
  for (std::int64_t i = 0; i < 200; ++i) CHECK(must(ids) == i);
  CHECK(requests()["commit"] <= 4);  // two blocks, the next one, and a directory that was missing
}

TEST_CASE_METHOD(Fixture, "the numbers of two clients are their own, and a block begins where the last one ends") {
  const CachedAtomicLong ids{counter, 10};
  const CachedAtomicLong others{DistributedAtomicLong{writer, path}, 3};
  std::set<std::int64_t> all;
  for (int i = 0; i < 50; ++i) {
    CHECK(all.insert(must(ids)).second);
    CHECK(all.insert(must(others)).second);
  }
  const CachedAtomicLong later{counter, 10};
  CHECK(must(later) > *all.rbegin());
}

TEST_CASE_METHOD(Fixture, "an error shows when no number is left, and the next block ends it") {
  const CachedAtomicLong ids{counter, 4};
  CHECK(must(ids) == 0);
  set(path, "no number");
  for (std::int64_t i = 1; i < 4; ++i) CHECK(must(ids) == i);
  CHECK(std::get<0>(next(ids)) == Error::invalid_data);
  CHECK(std::get<0>(next(ids)) == Error::invalid_data);
  set(path, detail::NumberCodec<std::int64_t>::encode(1'000));
  CHECK(must(ids) == 1'000);
}

TEST_CASE_METHOD(Fixture, "no number is given twice when an operator deletes the counter") {
  const CachedAtomicLong ids{counter, 4};
  std::set<std::int64_t> all;
  for (int i = 0; i < 10; ++i) CHECK(all.insert(must(ids)).second);
  remove(path);
  error_code last;
  for (int i = 0; i < 20; ++i) {
    const auto [error, number] = next(ids);
    if (error) last = error;
    if (!error) CHECK(all.insert(number.before).second);
  }
  CHECK(last == Error::invalid_data);
}

TEST_CASE_METHOD(Fixture, "all that wait are served by one block, also if it is a small one") {
  const CachedAtomicLong ids{counter, 1};
  must(ids);
  run();
  requests();
  std::int64_t ended = 0;
  for (int i = 0; i < 5'000; ++i)
    ids.async_next(asio::bind_executor(simulation.executor(), [&](error_code error, const Number&) {
      CHECK_FALSE(error);
      ++ended;
    }));
  run();
  CHECK(ended == 5'000);
  CHECK(requests()["commit"] <= 3);
}

TEST_CASE_METHOD(Fixture, "a number without waiting: none at first, then one, and a block is on its way") {
  const CachedAtomicLong ids{counter, 10};
  CHECK_FALSE(ids.try_next());
  run();
  const auto number = ids.try_next();
  REQUIRE(number);
  CHECK(number->before == 0);
  CHECK_THROWS_AS((CachedAtomicLong{counter, 0}), boost::system::system_error);
}

TEST_CASE_METHOD(Fixture, "a wait for a number that is cancelled completes at once") {
  const CachedAtomicLong ids{counter, 10};
  asio::cancellation_signal signal;
  error_code ended;
  ids.async_next(asio::bind_cancellation_slot(
      signal.slot(),
      asio::bind_executor(simulation.executor(), [&](error_code error, const Number&) { ended = error; })));
  signal.emit(asio::cancellation_type::total);
  run();
  CHECK(ended == asio::error::operation_aborted);
  must(ids);
}

namespace {

struct Given {
  std::set<std::int64_t> all;
};

asio::awaitable<void> take_some(testing::Simulation& simulation, std::shared_ptr<Given> given, std::string name) {
  ClientConfig config{.session_timeout = 10s};
  config.retry = ExponentialBackoffRetry{20ms, 8};
  const CachedAtomicLong ids{DistributedAtomicLong{simulation.client(name, config), path}, 2};
  for (int i = 0; i < 4; ++i) {
    auto taking =
        simulation.operation<Number>(name, {.name = "next"}, [&](auto token) { ids.async_next(std::move(token)); });
    const auto [error, number] = co_await std::move(taking);
    if (!error && !given->all.insert(number.before).second) simulation.fail("a number is given twice");
  }
}

void give_numbers(testing::Simulation& simulation) {
  const auto given = std::make_shared<Given>();
  for (const char* name : {"a", "b"})
    simulation.actor([&simulation, given, name] { return take_some(simulation, given, name); });
}

}  // namespace

TEST_CASE("no number is given twice, whatever is lost or late") {
  testing::ExplorationOptions options;
  options.late_requests = true;
  check_exploration(give_numbers, 50, options);
}

// Worker ids on the fake ensemble.
#include "support/exploration.hpp"
#include "support/follow_stage.hpp"
#include "worker_stage.hpp"

#include <set>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

const std::string path = "/workers";

struct Fixture : FollowStage {
  const std::shared_ptr<WallClock> clock = std::make_shared<WallClock>();
  const std::shared_ptr<WallClock> other_clock = std::make_shared<WallClock>();
  const WorkerIds ids{reader, path, settings(1, clock)};
  const WorkerIds others{writer, path, settings(1, other_clock)};

  std::optional<std::tuple<error_code, WorkerId>> acquire(const WorkerIds& from, std::chrono::milliseconds wait = 0s) {
    return outcome<WorkerId>([&](auto token) { from.async_acquire(wait, std::move(token)); });
  }
  WorkerId must_acquire(const WorkerIds& from) {
    auto acquired = acquire(from);
    REQUIRE(acquired);
    REQUIRE_FALSE(std::get<0>(*acquired));
    return std::move(std::get<1>(*acquired));
  }
  /// The number when it is acquired, and after how long.
  std::pair<WorkerId, std::chrono::seconds> acquire_later(const WorkerIds& from) {
    std::optional<std::tuple<error_code, WorkerId>> acquired;
    from.async_acquire(asio::bind_executor(
        simulation.executor(), [&](error_code error, WorkerId id) { acquired.emplace(error, std::move(id)); }));
    std::chrono::seconds waited{0};
    for (; !acquired && waited < 60s; waited += 1s) run(1s);
    REQUIRE(acquired);
    REQUIRE_FALSE(std::get<0>(*acquired));
    return {std::move(std::get<1>(*acquired)), waited};
  }
  void release(WorkerId& id) {
    const auto released = outcome<>([&](auto token) { id.async_release(std::move(token)); });
    REQUIRE(released);
    CHECK_FALSE(std::get<0>(*released));
  }
  std::optional<std::string> data_of(const std::string& node) const {
    for (const testing::FakeNode& each : ensemble.nodes())
      if (each.path == node) return each.data;
    return std::nullopt;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture,
                 "a number is held by one process, and after its release the next one uses later time stamps") {
  WorkerId first = must_acquire(ids);
  CHECK(first.is_held());
  CHECK(first.number() == 0);
  const auto stamp = first.try_time_stamp();
  CHECK(stamp == clock->now());
  CHECK(first.try_time_stamp() == stamp);  // the same tick
  CHECK(std::get<0>(acquire(others).value()) == Error::timed_out);
  release(first);
  CHECK_FALSE(first.is_held());
  CHECK_FALSE(first.try_time_stamp());
  release(first);
  const WorkerId second = must_acquire(others);  // at once: the last time stamp is known
  CHECK(second.try_time_stamp() > stamp);
}

TEST_CASE_METHOD(Fixture, "the number of a process that ended is used again when its time stamps are past") {
  const WorkerId first = must_acquire(ids);
  const TimeStamp last = first.try_time_stamp().value();
  lose_session();
  CHECK_FALSE(first.is_held());
  CHECK_FALSE(first.try_time_stamp());
  const auto [second, waited] = acquire_later(others);
  CHECK(waited >= 18s);  // twice the session timeout is reserved
  CHECK(waited <= 21s);
  CHECK(second.try_time_stamp().value() >= last + 19s);
}

TEST_CASE_METHOD(Fixture, "time stamps go on for as long as a number is held, with a write for each session timeout") {
  const WorkerId id = must_acquire(ids);
  requests();
  for (int i = 0; i < 100; ++i) {
    run(1s);
    CHECK(id.try_time_stamp() == clock->now());
  }
  CHECK(requests()["commit"] <= 11);
}

TEST_CASE_METHOD(Fixture, "without a link a number is used as long as it is held") {
  const WorkerId id = must_acquire(ids);
  run(9s);
  disconnect();
  int used = 0;
  for (; id.is_held(); ++used) {
    CHECK(id.try_time_stamp());
    run(1s);
  }
  CHECK(used >= 5);
  CHECK_FALSE(id.try_time_stamp());
  connect();
}

TEST_CASE_METHOD(Fixture, "a number that is lost is told, and one that is released is not") {
  WorkerId id = must_acquire(ids);
  std::optional<error_code> lost;
  id.async_wait_lost(asio::bind_executor(simulation.executor(), [&](error_code error) { lost = error; }));
  run(1s);
  CHECK_FALSE(lost);
  SECTION("the session ends") {
    lose_session();
    CHECK(lost == error_code{});
  }
  SECTION("an operator deletes its node") {
    remove(path + "/ids/0");
    run(20s);
    CHECK(lost == error_code{});
    CHECK_FALSE(id.try_time_stamp());
  }
  SECTION("it is released") {
    release(id);
    CHECK(lost == asio::error::operation_aborted);
  }
}

TEST_CASE_METHOD(Fixture, "a clock that is set back gives no time stamps until it has come to the last one again") {
  const WorkerId id = must_acquire(ids);
  run(1s);
  const auto last = id.try_time_stamp();
  clock->ahead -= 5s;
  CHECK_FALSE(id.try_time_stamp());
  CHECK(id.is_held());
  run(5s);
  CHECK(id.try_time_stamp() >= last);
}

TEST_CASE_METHOD(Fixture, "a clock that is set ahead gives time stamps as soon as they are reserved") {
  const WorkerId id = must_acquire(ids);
  clock->ahead += 1h;
  CHECK_FALSE(id.try_time_stamp());
  run(2s);
  CHECK(id.try_time_stamp() == clock->now());
}

TEST_CASE_METHOD(Fixture, "a number whose last owner's clock was ahead is left alone while there is another one") {
  clock->ahead = 24h;
  std::set<int> used;
  {
    const WorkerIds two{reader, path, settings(2, clock)};
    const WorkerId id = must_acquire(two);
    used.insert(id.number());
    CHECK(id.try_time_stamp());
  }
  run();
  const WorkerIds two{writer, path, settings(2, other_clock)};
  const WorkerId id = must_acquire(two);
  CHECK(used.insert(id.number()).second);
  CHECK(std::get<0>(acquire(two).value()) == Error::timed_out);
}

TEST_CASE_METHOD(Fixture, "a record that is none keeps its number from being used") {
  { const WorkerId id = must_acquire(ids); }
  run();
  set(path + "/last/0", "no time");
  CHECK(std::get<0>(acquire(ids).value()) == Error::timed_out);
}

TEST_CASE_METHOD(Fixture, "time stamps are multiples of the tick, and so are those of the next owner") {
  WorkerIdSettings coarse = settings(1, clock);
  coarse.tick = 10ms;
  const WorkerIds tens{reader, path, coarse};
  WorkerId id = must_acquire(tens);
  clock->ahead += 5ms;
  const TimeStamp last = id.try_time_stamp().value();
  CHECK(last.time_since_epoch() % 10ms == 0ms);
  release(id);
  clock->ahead -= 100ms;  // what run() has waited
  const auto [next, waited] = acquire_later(tens);
  CHECK(next.try_time_stamp().value() >= last + 10ms);
}

TEST_CASE_METHOD(Fixture,
                 "many processes get numbers of their own, and one that waits gets the first that is released") {
  const WorkerIds many{reader, path, settings(100, clock)};
  std::vector<WorkerId> all;
  std::set<int> numbers;
  for (int i = 0; i < 100; ++i) {
    all.push_back(must_acquire(many));
    CHECK(numbers.insert(all.back().number()).second);
  }
  std::optional<int> got;
  many.async_acquire(
      asio::bind_executor(simulation.executor(), [&](error_code, const WorkerId& id) { got = id.number(); }));
  run(5s);
  CHECK_FALSE(got);
  const int freed = all[40].number();
  all[40] = WorkerId{};  // released in the background
  run();
  CHECK(got == freed);
}

TEST_CASE_METHOD(Fixture, "an acquire that is cancelled holds no number and watches nothing") {
  WorkerId held = must_acquire(ids);
  asio::cancellation_signal signal;
  error_code ended;
  others.async_acquire(asio::bind_cancellation_slot(
      signal.slot(),
      asio::bind_executor(simulation.executor(), [&](error_code error, const WorkerId&) { ended = error; })));
  run();
  signal.emit(asio::cancellation_type::total);
  run();
  CHECK(ended == asio::error::operation_aborted);
  CHECK(std::ranges::none_of(ensemble.watches(), [](const auto& each) { return each.path.starts_with(path); }));
  release(held);
  CHECK_FALSE(data_of(path + "/ids/0"));
}

TEST_CASE_METHOD(Fixture, "worker ids refuse bad settings, and an empty one holds nothing") {
  for (const int count : {-1, 0, WorkerIdSettings::max_count + 1})
    CHECK_THROWS_AS((WorkerIds{reader, path, {.count = count}}), boost::system::system_error);
  CHECK_THROWS_AS((WorkerIds{reader, path, {.tick = 0ms}}), boost::system::system_error);
  CHECK_THROWS_AS((WorkerIds{reader, "workers"}), boost::system::system_error);
  const WorkerId nothing;
  CHECK_FALSE(nothing.is_held());
  CHECK_THROWS_AS(nothing.number(), boost::system::system_error);
  CHECK_THROWS_AS(nothing.try_time_stamp(), boost::system::system_error);
}

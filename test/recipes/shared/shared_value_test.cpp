// SharedValue and SharedCount on the fake ensemble.
#include "support/follow_stage.hpp"

#include <zklock/recipes/shared/shared_count.hpp>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

using Requests = std::map<std::string, int>;
using Number = VersionedValue<std::int32_t>;
using Change = ValueChange<std::int32_t>;

const std::string path = "/limits/rate";

struct Fixture : FollowStage {
  SharedCount count{reader, path, 7};
  SharedCount others{writer, path, 8};

  std::tuple<error_code, Number> get(const SharedCount& from) {
    return outcome<Number>([&](auto token) { from.async_get(std::move(token)); }).value();
  }
  Number known(const SharedCount& from) {
    const auto [error, number] = get(from);
    REQUIRE_FALSE(error);
    return number;
  }
  Number set(const SharedCount& from, std::int32_t number) {
    const auto [error, made] = outcome<Number>([&](auto token) { from.async_set(number, std::move(token)); }).value();
    REQUIRE_FALSE(error);
    return made;
  }
  std::tuple<error_code, Exchange<std::int32_t>> exchange(const SharedCount& from, const Number& previous,
                                                          std::int32_t next) {
    return outcome<Exchange<std::int32_t>>(
               [&](auto token) { from.async_compare_and_set(previous, next, std::move(token)); })
        .value();
  }
  [[nodiscard]] std::string data() const {
    const auto nodes = ensemble.nodes();
    const auto found = std::ranges::find(nodes, path, &testing::FakeNode::path);
    return found == nodes.end() ? "missing" : found->data;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the first seed wins, and is written as Curator writes it") {
  CHECK(known(count).value == 7);
  CHECK(data() == "\0\0\0\x07"s);
  CHECK(known(others).value == 7);
  requests();
  CHECK(known(count).value == 7);
  CHECK(requests() == Requests{{"get_data", 1}});
}

TEST_CASE_METHOD(Fixture, "a set needs no node, and each set has a version") {
  CHECK(set(count, 1).version == 0);
  requests();
  const Number second = set(count, -2);
  CHECK(requests() == Requests{{"set_data", 1}});
  CHECK(second.version == 1);
  const Number read = known(others);
  CHECK(read.value == -2);
  CHECK(read.mzxid == second.mzxid);
  CHECK(read.czxid == second.czxid);
}

TEST_CASE_METHOD(Fixture,
                 "a compare-and-set is done if the version is the known one, and otherwise says what is there") {
  const Number first = set(count, 1);
  auto [error, done] = exchange(others, first, 2);
  REQUIRE_FALSE(error);
  CHECK(done.is_set);
  CHECK(done.current.value().version == 1);
  auto [none, refused] = exchange(count, first, 3);
  REQUIRE_FALSE(none);
  CHECK_FALSE(refused.is_set);
  CHECK_FALSE(refused.is_another_node);
  CHECK(refused.current.value().value == 2);
  CHECK(std::get<1>(exchange(count, *refused.current, 3)).is_set);
  CHECK(known(others).value == 3);
}

TEST_CASE_METHOD(Fixture, "a compare-and-set never stands for any version") {
  set(count, 1);
  CHECK(std::get<0>(exchange(count, {1, -1}, 2)) == Error::bad_arguments);
  CHECK(std::get<0>(exchange(count, {1, INT32_MIN}, 2)) == Error::bad_arguments);
  CHECK(known(count).value == 1);
}

TEST_CASE_METHOD(Fixture, "a compare-and-set says when it has hit another node, and when there is none") {
  const Number first = set(count, 1);
  remove(path);
  CHECK_FALSE(std::get<1>(exchange(count, first, 2)).current);
  set(others, 5);
  const auto [error, done] = exchange(count, first, 2);
  REQUIRE_FALSE(error);
  CHECK(done.is_set);
  CHECK(done.is_another_node);
}

TEST_CASE_METHOD(Fixture,
                 "a compare-and-set whose reply is lost is no no: its outcome is ambiguous, and it is done once") {
  const Number first = set(count, 1);
  ensemble.on_call([done = false](const testing::FakeCall& call) mutable {
    const bool strikes = !done && call.operation == "set_data" && call.applied;
    done = done || strikes;
    return strikes ? testing::FakeFault::cut : testing::FakeFault::none;
  });
  auto ended = std::make_shared<std::optional<std::tuple<error_code, Exchange<std::int32_t>>>>();
  count.async_compare_and_set(
      first, 2, asio::bind_executor(simulation.executor(), [ended](error_code error, Exchange<std::int32_t> done) {
        ended->emplace(error, std::move(done));
      }));
  run(10s);
  REQUIRE(*ended);
  CHECK(outcome_of(std::get<0>(**ended)) == Outcome::ambiguous);
  CHECK(known(others).version == first.version + 1);
}

TEST_CASE_METHOD(Fixture, "data of another form are no number, and no data are the seed") {
  create(path, "", CreateOptions{CreateMode::persistent}.creating_parents());
  CHECK(known(count).value == 7);
  CHECK(known(others).value == 8);
  FollowStage::set(path, "12345");
  CHECK(std::get<0>(get(count)) == Error::invalid_data);
}

TEST_CASE_METHOD(Fixture, "a follower sees each value, merged if it is slow, and that the node is gone or no number") {
  auto values = count.values();
  run();
  CHECK_FALSE(must_next(values).value);
  set(others, 1);
  Change change = must_next(values);
  CHECK(change.value.value().value == 1);
  for (const std::int32_t number : {2, 3, 4}) set(others, number);
  change = must_next(values);
  CHECK(change.value.value().value == 4);
  CHECK(change.skipped == 2);
  FollowStage::set(path, "x");
  change = must_next(values);
  CHECK_FALSE(change.value);
  CHECK(change.error == Error::invalid_data);
  remove(path);
  change = must_next(values);
  CHECK_FALSE(change.value);
  CHECK_FALSE(change.error);
  set(others, 9);
  CHECK(must_next(values).value.value().value == 9);
}

TEST_CASE_METHOD(Fixture, "a follower says that its value may be old while the link is lost, and not afterwards") {
  set(others, 1);
  auto values = count.values();
  CHECK(values.freshness().state == Freshness::State::loading);
  run();
  CHECK(must_next(values).value.value().value == 1);
  CHECK(values.freshness().state == Freshness::State::live);
  disconnect();
  CHECK(values.freshness().state == Freshness::State::stale);
  set(others, 2);
  CHECK_FALSE(next(values));
  connect();
  CHECK(values.freshness().state == Freshness::State::live);
  CHECK(must_next(values).value.value().value == 2);
  lose_session();
  CHECK(values.freshness().state == Freshness::State::live);
  CHECK(outcome<>([&](auto token) { reader.async_close(std::move(token)); }));
  CHECK(values.freshness().state == Freshness::State::gone);
}

TEST_CASE_METHOD(Fixture, "a shared value is any bytes") {
  const SharedValue value{reader, path, "\0seed"s};
  const auto read = outcome<VersionedValue<std::string>>([&](auto token) { value.async_get(std::move(token)); });
  CHECK(std::get<1>(read.value()).value == "\0seed"s);
  CHECK(data() == "\0seed"s);
  CHECK_THROWS_AS(SharedValue(reader, "limits", ""), boost::system::system_error);
}

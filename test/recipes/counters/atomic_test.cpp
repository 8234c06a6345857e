// Distributed atomics on the fake ensemble.
#include "fold.hpp"
#include "support/follow_stage.hpp"

#include <zklock/recipes/counters/distributed_atomic.hpp>

#include <limits>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

using Requests = std::map<std::string, int>;
using Added = AtomicResult<std::int64_t>;
using Steps = detail::AtomicSteps<detail::NumberCodec<std::int64_t>>;

const std::string path = "/counters/orders";

struct Fixture : FollowStage {
  DistributedAtomicLong orders{reader, path};
  DistributedAtomicLong others{writer, path};

  template <class Start>
  std::tuple<error_code, Added> change(Start start) {
    return outcome<Added>(start).value();
  }
  Added must(const DistributedAtomicLong& counter, std::int64_t delta) {
    const auto [error, added] = change([&](auto token) { counter.async_add(delta, std::move(token)); });
    REQUIRE_FALSE(error);
    return added;
  }
  [[nodiscard]] std::string data() const {
    const auto nodes = ensemble.nodes();
    const auto found = std::ranges::find(nodes, path, &testing::FakeNode::path);
    return found == nodes.end() ? "missing" : found->data;
  }
};

}  // namespace

TEST_CASE("changes that wait are folded into one, and each is told its part") {
  const auto max = std::numeric_limits<std::int64_t>::max();
  const std::vector<detail::AtomicStep> all{Steps::add(3),       Steps::get(),   Steps::compare_and_set(3, 10),
                                            Steps::add(max),     Steps::add(-1), Steps::compare_and_set(3, 11),
                                            Steps::initialize(5)};
  std::vector<const detail::AtomicStep*> steps;
  for (const auto& each : all) steps.push_back(&each);
  const auto folded = detail::fold(steps, std::nullopt);
  CHECK(folded.is_changed);
  CHECK(*folded.data == detail::NumberCodec<std::int64_t>::encode(9));
  CHECK(folded.errors[3] == Error::overflow);
  const bool done[] = {true, false, true, false, true, false, false};
  const std::int64_t after[] = {3, 3, 10, 10, 9, 9, 9};
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(folded.each[i].is_done == done[i]);
    CHECK(Steps::result(folded.each[i])->after == after[i]);
  }
}

TEST_CASE_METHOD(Fixture, "a counter begins at 0, and is written as Curator writes it") {
  const Added first = must(orders, 258);
  CHECK(first.before == 0);
  CHECK(first.after == 258);
  CHECK(data() == "\0\0\0\0\0\0\x01\x02"s);
  CHECK(must(others, -259).after == -1);
  CHECK(data() == std::string(8, '\xff'));
}

TEST_CASE_METHOD(Fixture, "64 increments at once are one write or two, and none is lost") {
  must(orders, 1);
  must(orders, 1);
  requests();
  int ended = 0;
  for (int i = 0; i < 64; ++i)
    orders.async_increment(asio::bind_executor(simulation.executor(), [&](error_code error, const Added& added) {
      CHECK_FALSE(error);
      CHECK(added.after == 3 + ended++);
    }));
  run();
  CHECK(ended == 64);
  CHECK(requests()["commit"] <= 2);
}

TEST_CASE_METHOD(Fixture, "a client that alone counts needs one request for each increment") {
  for (int i = 0; i < 3; ++i) must(orders, 1);
  requests();
  must(orders, 1);
  CHECK(requests() == Requests{{"commit", 1}});
}

TEST_CASE_METHOD(Fixture, "when another client has written, the increment goes on from there") {
  for (int i = 0; i < 2; ++i) must(orders, 1);
  for (int i = 0; i < 2; ++i) must(others, 10);
  const Added added = must(orders, 1);
  CHECK(added.before == 22);
  CHECK(added.after == 23);
}

TEST_CASE_METHOD(Fixture, "an overflow and data that are no number are errors, and change nothing") {
  must(orders, std::numeric_limits<std::int64_t>::max());
  CHECK(std::get<0>(change([&](auto token) { orders.async_increment(std::move(token)); })) == Error::overflow);
  set(path, "1234");
  CHECK(std::get<0>(change([&](auto token) { orders.async_increment(std::move(token)); })) == Error::invalid_data);
  CHECK(std::get<0>(change([&](auto token) { others.async_get(std::move(token)); })) == Error::invalid_data);
  CHECK(data() == "1234");
  CHECK_FALSE(std::get<0>(change([&](auto token) { others.async_set(7, std::move(token)); })));
  CHECK(must(orders, 1).after == 8);
}

TEST_CASE_METHOD(Fixture, "a compare-and-set is refused for what is there now, never for what was there") {
  for (int i = 0; i < 3; ++i) must(orders, 1);
  must(others, 1);
  auto [error, done] = change([&](auto token) { orders.async_compare_and_set(4, 40, std::move(token)); });
  CHECK_FALSE(error);
  CHECK(done.is_done);
  CHECK(done.before == 4);
  auto [none, refused] = change([&](auto token) { others.async_compare_and_set(4, 41, std::move(token)); });
  CHECK_FALSE(none);
  CHECK_FALSE(refused.is_done);
  CHECK(refused.after == 40);
}

TEST_CASE_METHOD(Fixture, "initialize makes the node once, and a compare-and-set makes none") {
  CHECK_FALSE(std::get<1>(change([&](auto token) { orders.async_compare_and_set(0, 1, std::move(token)); })).is_done);
  CHECK(data() == "missing");
  CHECK(std::get<1>(change([&](auto token) { orders.async_initialize(5, std::move(token)); })).is_done);
  CHECK_FALSE(std::get<1>(change([&](auto token) { others.async_initialize(6, std::move(token)); })).is_done);
  CHECK(must(others, 0).after == 5);
}

TEST_CASE_METHOD(Fixture, "a counter that an operator deletes and another client makes anew is not taken for the old") {
  for (int i = 0; i < 3; ++i) must(orders, 1);  // the value is kept, at version 2
  remove(path);
  for (int i = 0; i < 3; ++i) must(others, 100);  // version 2 again
  CHECK(must(orders, 1).after == 301);
  remove(path);
  CHECK(must(orders, 1).after == 1);
}

TEST_CASE_METHOD(Fixture, "an increment that is cancelled completes at once, and the others go on") {
  must(orders, 1);
  asio::cancellation_signal signal;
  std::vector<error_code> ended;
  const auto note = [&](error_code error, const Added&) { ended.push_back(error); };
  orders.async_increment(asio::bind_executor(simulation.executor(), note));
  orders.async_increment(asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(simulation.executor(), note)));
  signal.emit(asio::cancellation_type::total);
  run();
  REQUIRE(ended.size() == 2);
  CHECK(ended[0] == asio::error::operation_aborted);
  CHECK_FALSE(ended[1]);
}

TEST_CASE_METHOD(Fixture, "a value of 32 bits and a value of any bytes") {
  const DistributedAtomicInteger number{reader, "/counters/small"};
  const auto small = outcome<AtomicResult<std::int32_t>>(
      [&](auto token) { number.async_add(std::numeric_limits<std::int32_t>::max(), std::move(token)); });
  CHECK(std::get<1>(small.value()).after == std::numeric_limits<std::int32_t>::max());
  CHECK(std::get<0>(outcome<AtomicResult<std::int32_t>>([&](auto token) {
                      number.async_increment(std::move(token));
                    }).value()) == Error::overflow);
  const DistributedAtomicValue text{reader, "/counters/text"};
  const auto made = outcome<AtomicResult<std::string>>([&](auto token) { text.async_set("a", std::move(token)); });
  CHECK(std::get<1>(made.value()).is_done);
  const auto exchanged =
      outcome<AtomicResult<std::string>>([&](auto token) { text.async_compare_and_set("a", "b", std::move(token)); });
  CHECK(std::get<1>(exchanged.value()).after == "b");
}

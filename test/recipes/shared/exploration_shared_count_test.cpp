// SharedCount under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/shared/shared_count.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const ClientConfig patient{.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}};
const std::string path = "/limits/rate";

using Number = VersionedValue<std::int32_t>;
using Change = ValueChange<std::int32_t>;

struct Books {
  std::int32_t acknowledged = 0;
  std::int32_t ambiguous = 0;
  int at_work = 2;
  std::optional<Number> seen;
  bool is_over = false;
};

/// Adds one, as users of Curator's SharedCount do.
asio::awaitable<void> add(Simulation& simulation, std::shared_ptr<Books> books, std::string name) {
  const SharedCount count{simulation.client(name, patient), path, 0};
  for (int added = 0, tries = 0; added < 2 && tries < 12; ++tries) {
    auto getting =
        simulation.operation<Number>(name, {.name = "get"}, [&](auto token) { count.async_get(std::move(token)); });
    const auto got = co_await std::move(getting);
    if (std::get<0>(got)) continue;
    const Number& number = std::get<1>(got);
    auto setting = simulation.operation<Exchange<std::int32_t>>(name, {.name = "set"}, [&](auto token) {
      count.async_compare_and_set(number, number.value + 1, std::move(token));
    });
    const auto [error, exchange] = co_await std::move(setting);
    if (error && outcome_of(error) == Outcome::ambiguous) ++books->ambiguous;
    if (error || !exchange.is_set) continue;
    ++books->acknowledged;
    ++added;
    if (exchange.current->version != number.version + 1) simulation.fail("it was not set from the version named");
  }
  --books->at_work;
}

asio::awaitable<void> read(Simulation& simulation, std::shared_ptr<Books> books, FollowStream<Change>& values) {
  while (!books->is_over) {
    auto next = simulation.operation<Change>("reader", {.name = "next"},
                                             [&](auto token) { values.async_next(std::move(token)); });
    auto [error, change] = co_await std::move(next);
    if (error == asio::error::operation_aborted) continue;
    if (error) co_return;
    if (change.value && books->seen && change.value->mzxid <= books->seen->mzxid) simulation.fail("the values go back");
    if (change.value) books->seen = *change.value;
  }
}

bool shows_the_last(const Simulation& simulation, const Books& books) {
  const auto nodes = simulation.ensemble().nodes();
  const auto node = std::ranges::find(nodes, path, &FakeNode::path);
  return node == nodes.end() ? !books.seen : books.seen && books.seen->mzxid == node->stat.mzxid;
}

asio::awaitable<void> follow(Simulation& simulation, std::shared_ptr<Books> books) {
  Client& client = simulation.client("reader", patient);
  const SharedCount count{client, path, 0};
  auto values = count.values();
  asio::co_spawn(co_await asio::this_coro::executor, read(simulation, books, values), asio::detached);
  while (books->at_work > 0) co_await test::pause(100ms);
  for (int i = 0; i < 600 && !shows_the_last(simulation, *books); ++i) co_await test::pause(100ms);
  if (client.state() != ConnectionState::closed && !shows_the_last(simulation, *books))
    simulation.fail("the follower does not show the last value");
  books->is_over = true;
}

/// Also when a reply was lost: the outcome is known, or said to be ambiguous.
void counts(Simulation& simulation) {
  auto books = std::make_shared<Books>();
  simulation.actor([&simulation, books] { return follow(simulation, books); });
  for (const char* name : {"a", "b"})
    simulation.actor([&simulation, books, name] { return add(simulation, books, name); });
  simulation.at_the_end("each addition was counted once", [&simulation, books] {
    const auto nodes = simulation.ensemble().nodes();
    const auto node = std::ranges::find(nodes, path, &FakeNode::path);
    const std::int32_t value = node == nodes.end() ? 0 : detail::CountCodec::decode(node->data, 0).value_or(-1);
    return value >= books->acknowledged && value <= books->acknowledged + books->ambiguous;
  });
}

}  // namespace

TEST_CASE("each compare-and-set of a shared count is done once or not at all, and followers see the last") {
  test::check_exploration(counts, 300);
}

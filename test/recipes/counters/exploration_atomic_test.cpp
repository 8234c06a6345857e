// DistributedAtomicLong under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/counters/distributed_atomic.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string path = "/counters/orders";

using Added = AtomicResult<std::int64_t>;

ClientConfig patient() {
  ClientConfig config{.session_timeout = 10s};
  config.retry = ExponentialBackoffRetry{20ms, 8};
  return config;
}

struct Books {
  std::int64_t acknowledged = 0;
  std::int64_t ambiguous = 0;
  std::set<std::int64_t> ids;
  std::optional<DistributedAtomicLong> shared;  // they watch the counter as long as they are there
  std::optional<DistributedAtomicLong> other;
  int at_work = 3;
};

std::int64_t value(const Simulation& simulation) {
  const auto nodes = simulation.ensemble().nodes();
  const auto node = std::ranges::find(nodes, path, &FakeNode::path);
  if (node == nodes.end()) return 0;
  return detail::NumberCodec<std::int64_t>::decode(node->data).value_or(-1);
}

/// One after the other; each number is given to one caller.
asio::awaitable<void> count(Simulation& simulation, std::shared_ptr<Books> books, std::string name) {
  const DistributedAtomicLong counter = name == "a" ? *books->shared : *books->other;
  for (int i = 0; i < 2; ++i) {
    auto adding = simulation.operation<Added>(name, {.name = "add"},
                                              [&](auto token) { counter.async_increment(std::move(token)); });
    const auto [error, added] = co_await std::move(adding);
    if (error && outcome_of(error) == Outcome::ambiguous) ++books->ambiguous;
    if (error) continue;
    ++books->acknowledged;
    if (added.after != added.before + 1) simulation.fail("an increment is not by one");
    if (!simulation.has_operator_deleted() && !books->ids.insert(added.after).second)
      simulation.fail("a number is given twice");
  }
  co_await test::pause(3s);
  if (--books->at_work > 0) co_return;
  books->shared.reset();
  books->other.reset();
}

/// Two callers in one process, whose increments are combined, and another process.
void counts(Simulation& simulation) {
  const auto books = std::make_shared<Books>();
  books->shared.emplace(simulation.client("a", patient()), path);
  books->other.emplace(simulation.client("b", patient()), path);
  for (const char* name : {"a", "a", "b"})
    simulation.actor([&simulation, books, name] { return count(simulation, books, name); });
  simulation.at_the_end("each increment was counted once", [&simulation, books] {
    const std::int64_t sum = value(simulation);
    return sum >= books->acknowledged && sum <= books->acknowledged + books->ambiguous;
  });
}

}  // namespace

TEST_CASE("each increment is counted once or not at all, as its caller is told, whatever is lost or late") {
  for (const auto lateness : {3ms, 30ms, 300ms}) {
    ExplorationOptions options;
    options.late_requests = true;
    options.ensemble.lateness = lateness;
    test::check_exploration(counts, 150, options);
  }
}

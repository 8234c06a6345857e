// InterProcessReadWriteLock under every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/read_write_watch.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/testing/exploration.hpp>

#include <memory>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using zklock::test::ReadWriteWatch;
using namespace std::chrono_literals;

namespace {

const std::string directory = "/locks/stock";

ClientConfig patient() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

struct Part {
  enum class Does { reads, writes, writes_then_reads };
  std::string name;
  Does does = Does::reads;
  std::chrono::milliseconds comes_after{0};
  std::string client = name;  ///< parts of the same client are local waiters
  std::chrono::milliseconds works_for{1'000};
  std::chrono::milliseconds waits{0};  ///< 0: without a limit
};

LockKind first_kind(const Part& part) { return part.does == Part::Does::reads ? LockKind::read : LockKind::write; }

/// Acquires one of the two locks. The result is empty if that failed.
asio::awaitable<Lease> acquire(Simulation& simulation, ReadWriteWatch& holders, const Part& part,
                               const InterProcessReadWriteLock& lock, LockKind kind, Owner owner) {
  const OperationTraits traits{"acquire", part.waits};
  auto acquiring = simulation.operation<Lease>(part.client, traits, [&](auto token) {
    const InterProcessMutex& half = kind == LockKind::read ? lock.read_lock() : lock.write_lock();
    if (part.waits == 0ms) {
      half.async_acquire(owner, std::move(token));
    } else {
      half.async_acquire(owner, part.waits, std::move(token));
    }
  });
  auto [error, lease] = co_await std::move(acquiring);
  if (!error) holders.granted(part.name, kind, lease);
  if (error == LockError::lock_lost && kind == first_kind(part)) simulation.fail(part.name + " does not start over");
  co_return std::move(lease);
}

asio::awaitable<void> release(Simulation& simulation, ReadWriteWatch& holders, const Part& part, LockKind kind,
                              Lease& lease) {
  holders.released(part.name, kind);
  auto releasing = simulation.operation<>(part.client, {.name = "release", .can_be_cancelled = false},
                                          [&](auto token) { lease.async_release(std::move(token)); });
  co_await std::move(releasing);
}

asio::awaitable<void> play(Simulation& simulation, std::shared_ptr<ReadWriteWatch> holders, Part part) {
  co_await test::pause(part.comes_after);
  const InterProcessReadWriteLock lock{simulation.client(part.client, patient()), directory};
  const Owner owner = Owner::make();
  const LockKind first = first_kind(part);
  Lease lease = co_await acquire(simulation, *holders, part, lock, first, owner);
  if (lease.node_path().empty()) co_return;
  co_await test::pause(part.works_for);
  if (part.does == Part::Does::writes_then_reads) {
    Lease reading = co_await acquire(simulation, *holders, part, lock, LockKind::read, owner);
    if (lease.state() == LeaseState::lost && reading.is_held())
      simulation.fail(part.name + " reads on the strength of a write lock that it has lost");
    co_await release(simulation, *holders, part, LockKind::write, lease);
    if (reading.node_path().empty()) co_return;
    co_await test::pause(part.works_for);
    co_await release(simulation, *holders, part, LockKind::read, reading);
    co_return;
  }
  co_await release(simulation, *holders, part, first, lease);
}

void check(const std::vector<Part>& parts, std::size_t pairs, const std::string& operator_deletes = {}) {
  const auto scenario = [parts](Simulation& simulation) {
    const auto holders = std::make_shared<ReadWriteWatch>(simulation);
    simulation.invariant("idle clients watch nothing",
                         [&simulation] { return test::idle_clients_watch_nothing(simulation, {directory}); });
    for (const Part& part : parts)
      simulation.actor([&simulation, holders, part] { return play(simulation, holders, part); });
  };
  test::check_exploration(scenario, pairs, {.operator_deletes = operator_deletes});
}

}  // namespace

TEST_CASE("a writer excludes readers and writers whatever fails") {
  check({{.name = "a"},
         {.name = "b", .does = Part::Does::writes, .comes_after = 100ms},
         {.name = "c", .comes_after = 200ms}},
        300);
}

TEST_CASE("a downgrade lets no writer in whatever fails") {
  check({{.name = "a", .does = Part::Does::writes_then_reads},
         {.name = "b", .does = Part::Does::writes, .comes_after = 100ms}},
        300);
}

TEST_CASE("readers and writers that time out leave no trace whatever fails") {
  check({{.name = "a", .does = Part::Does::writes, .works_for = 5s},
         {.name = "b", .comes_after = 100ms, .waits = 2s},
         {.name = "c", .does = Part::Does::writes, .comes_after = 200ms, .waits = 2s}},
        300);
}

TEST_CASE("a writer gets no handoff from its client's reader right ahead while another client reads") {
  check({{.name = "a", .client = "two", .works_for = 3s},
         {.name = "b", .comes_after = 100ms, .client = "one"},
         {.name = "c", .does = Part::Does::writes, .comes_after = 200ms, .client = "one"},
         {.name = "d", .does = Part::Does::writes, .comes_after = 300ms, .client = "one"},
         {.name = "e", .comes_after = 400ms, .client = "one"}},
        300);
}

TEST_CASE("a client's readers behind its writer and behind each other keep the queue's order whatever fails") {
  check({{.name = "a", .does = Part::Does::writes, .client = "one"},
         {.name = "b", .comes_after = 100ms, .client = "one"},
         {.name = "c", .comes_after = 200ms, .client = "one"},
         {.name = "d", .does = Part::Does::writes, .comes_after = 300ms, .client = "two"},
         {.name = "e", .comes_after = 400ms, .client = "one"}},
        300);
}

TEST_CASE("when a writer gives up, its client's readers wait for the other client ahead of it, whatever fails") {
  check({{.name = "a", .does = Part::Does::writes, .client = "two", .works_for = 4s},
         {.name = "b", .does = Part::Does::writes, .comes_after = 100ms, .client = "one", .waits = 2s},
         {.name = "c", .comes_after = 200ms, .client = "one"},
         {.name = "d", .comes_after = 300ms, .client = "one"}},
        300);
}

TEST_CASE("readers and writers whose nodes an operator deletes start over, and exclude each other, whatever fails") {
  check({{.name = "a", .does = Part::Does::writes_then_reads},
         {.name = "b", .does = Part::Does::writes, .comes_after = 100ms},
         {.name = "c", .comes_after = 200ms}},
        200, directory);
  check({{.name = "a", .does = Part::Does::writes, .client = "one"},
         {.name = "b", .comes_after = 100ms, .client = "one"},
         {.name = "c", .does = Part::Does::writes, .comes_after = 200ms, .client = "two"}},
        200, directory);
}

// What observers are told adds up under every fault at every step.
#include "support/catch.hpp"
#include "support/event_books.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/lock_registry.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::EventBooks;
using zklock::test::pause;

namespace {

const std::string directory = "/locks/orders";

using Books = std::shared_ptr<EventBooks>;

/// The books are read for the last time when the clients are closed and gone.
Books make_books(std::set<LockKind> kinds) {
  return {new EventBooks{std::move(kinds)}, [](EventBooks* books) {
            const auto seen = books->seen();
            for (const std::string& mistake : seen.mistakes) FAIL_CHECK(mistake);
            CHECK(seen.nothing_under_way());
            delete books;
          }};
}

/// slow_wait is short, so that the faults meet its list and its read, too.
ClientConfig observed(const Books& books) {
  return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}, .observers = {books}, .slow_wait = 200ms};
}

std::uint64_t count_of(const EventBooks::Seen& seen, LockPhase phase) {
  const auto found = seen.phases.find(phase);
  return found == seen.phases.end() ? 0 : found->second;
}

/// The simulation knows by itself which acquires have begun and ended, and how: the events must say the same.
void compare(Simulation& simulation, const Books& books) {
  const auto acquires = [&simulation](auto is_counted) {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        simulation.operations(), [&](const auto& each) { return each.name == "acquire" && is_counted(each); }));
  };
  const auto ended_with = [acquires](error_code outcome) {
    return acquires([outcome](const auto& each) { return each.is_done() && each.outcome == outcome; });
  };
  simulation.invariant("begun = ended + under way", [books] { return books->seen().balances(); });
  simulation.invariant("the attempts under way are the acquires under way", [books, acquires] {
    return books->seen().attempts.under_way.size() == acquires([](const auto& each) { return !each.is_done(); });
  });
  simulation.at_the_end("nothing is under way", [books] { return books->seen().nothing_under_way(); });
  simulation.at_the_end("the events tell the callers' story", [books, acquires, ended_with] {
    const auto seen = books->seen();
    const auto all = acquires([](const auto&) { return true; });
    return seen.attempts.ended == all &&
           count_of(seen, LockPhase::timed_out) == ended_with(make_error_code(Error::timed_out)) &&
           count_of(seen, LockPhase::cancelled) == ended_with(asio::error::operation_aborted) &&
           count_of(seen, LockPhase::refused) == ended_with(make_error_code(Error::would_deadlock)) &&
           seen.attempts.ended - count_of(seen, LockPhase::timed_out) - count_of(seen, LockPhase::cancelled) -
                   count_of(seen, LockPhase::refused) - count_of(seen, LockPhase::failed) ==
               ended_with(error_code{});
  });
}

/// Of acquires that make several attempts: one for each of their locks, or one after the other.
void compare_several(Simulation& simulation, const Books& books) {
  simulation.invariant("begun = ended + under way", [books] { return books->seen().balances(); });
  simulation.invariant("an attempt is under way only while its acquire is", [&simulation, books] {
    return books->seen().attempts.under_way.empty() ||
           std::ranges::any_of(simulation.operations(),
                               [](const auto& each) { return each.name == "acquire" && !each.is_done(); });
  });
  simulation.at_the_end("nothing is under way", [books] { return books->seen().nothing_under_way(); });
  simulation.at_the_end("each acquire that ended well had a grant", [&simulation, books] {
    const auto seen = books->seen();
    const auto granted = std::ranges::count_if(simulation.operations(), [](const auto& each) {
      return each.name == "acquire" && each.is_done() && !each.outcome;
    });
    return std::cmp_greater_equal(seen.grants.begun, granted) && std::cmp_greater_equal(seen.attempts.begun, granted);
  });
}

/// Acquires, works, releases; `initiate` starts the acquire.
template <class Held = Lease, class Initiate>
asio::awaitable<void> use(Simulation& simulation, std::string client, std::chrono::milliseconds comes_after,
                          std::chrono::milliseconds works_for, Initiate initiate) {
  co_await pause(comes_after);
  auto acquiring = simulation.operation<Held>(client, {"acquire"}, initiate);
  auto [error, lease] = co_await std::move(acquiring);
  if (error) co_return;
  co_await pause(works_for);
  if (client == "a") co_return;  // released in the background
  auto releasing = simulation.operation<>(client, {.name = "release", .can_be_cancelled = false},
                                          [&lease = lease](auto token) { lease.async_release(std::move(token)); });
  co_await std::move(releasing);
}

}  // namespace

TEST_CASE("events of a mutex add up, whatever fails: waiters of one client, of another, and of one owner") {
  const auto scenario = [](Simulation& simulation) {
    const Books books = make_books({LockKind::mutex});
    compare(simulation, books);
    const Owner shared = Owner::make();
    for (const std::string who : {"a", "b", "c", "d"})
      simulation.actor([&simulation, books, who, shared]() -> asio::awaitable<void> {
        const std::string client = who == "a" ? "a" : "b";
        const Owner owner = who == "a" || who == "b" ? Owner::make() : shared;
        const InterProcessMutex mutex{simulation.client(client, observed(books)), directory};
        auto using_it = use(simulation, client, who == "a" ? 0ms : 100ms, 600ms,
                            [&mutex, owner](auto token) { mutex.async_acquire(owner, 1s, std::move(token)); });
        co_await std::move(using_it);
      });
  };
  test::check_exploration(scenario, 300);
  test::check_exploration(scenario, 100, {.operator_deletes = directory});
}

TEST_CASE("events of readers and writers add up, whatever fails, with an upgrade that is refused") {
  const auto scenario = [](Simulation& simulation) {
    const Books books = make_books({LockKind::read, LockKind::write});
    compare(simulation, books);
    for (const std::string client : {"a", "b"})
      simulation.actor([&simulation, books, client]() -> asio::awaitable<void> {
        const InterProcessReadWriteLock lock{simulation.client(client, observed(books)), directory};
        const Owner owner = Owner::make();
        auto reading = use(simulation, client, 0ms, 300ms,
                           [&lock, owner](auto token) { lock.read_lock().async_acquire(owner, std::move(token)); });
        auto writing = use(simulation, client, 0ms, 300ms,
                           [&lock, owner](auto token) { lock.write_lock().async_acquire(owner, std::move(token)); });
        co_await std::move(reading);
        co_await std::move(writing);
      });
    simulation.actor([&simulation, books]() -> asio::awaitable<void> {
      const InterProcessReadWriteLock lock{simulation.client("a", observed(books)), directory};
      const Owner owner = Owner::make();
      auto reading = simulation.operation<Lease>(
          "a", {"acquire"}, [&](auto token) { lock.read_lock().async_acquire(owner, std::move(token)); });
      auto [error, lease] = co_await std::move(reading);
      if (error) co_return;
      auto upgrading = simulation.operation<Lease>(
          "a", {"acquire"}, [&](auto token) { lock.write_lock().async_acquire(owner, 0s, std::move(token)); });
      co_await std::move(upgrading);
    });
  };
  test::check_exploration(scenario, 200);
}

TEST_CASE("events of permits add up, whatever fails") {
  const auto scenario = [](Simulation& simulation) {
    const Books books = make_books({LockKind::permit});
    compare(simulation, books);
    for (const std::string client : {"a", "b", "c"})
      simulation.actor([&simulation, books, client]() -> asio::awaitable<void> {
        const InterProcessSemaphore semaphore{simulation.client(client, observed(books)), directory, 2};
        auto using_it = use(simulation, client, client == "c" ? 100ms : 0ms, 600ms,
                            [&semaphore](auto token) { semaphore.async_acquire(std::move(token)); });
        co_await std::move(using_it);
      });
  };
  test::check_exploration(scenario, 200);
}

TEST_CASE("events of a multi-lock's locks add up, whatever fails: in opposite orders, one with a limit") {
  const auto scenario = [](Simulation& simulation) {
    const Books books = make_books({LockKind::mutex});
    compare_several(simulation, books);
    for (const std::string client : {"a", "b"})
      simulation.actor([&simulation, books, client]() -> asio::awaitable<void> {
        std::vector<std::string> paths{directory, "/locks/stock"};
        if (client == "b") std::ranges::reverse(paths);
        const InterProcessMultiLock lock{simulation.client(client, observed(books)), paths};
        auto using_it =
            use<MultiLease>(simulation, client, client == "a" ? 0ms : 100ms, 1'500ms, [&lock, client](auto token) {
              if (client == "a") return lock.async_acquire(std::move(token));
              lock.async_acquire(1s, std::move(token));
            });
        co_await std::move(using_it);
      });
    simulation.actor([&simulation, books]() -> asio::awaitable<void> {
      const InterProcessMutex mutex{simulation.client("b", observed(books)), "/locks/stock"};
      auto using_it =
          use(simulation, "b", 50ms, 400ms, [&mutex](auto token) { mutex.async_acquire(std::move(token)); });
      co_await std::move(using_it);
    });
  };
  test::check_exploration(scenario, 150);
}

TEST_CASE("events of a registry's locks add up, whatever fails, with repeated tries") {
  const auto scenario = [](Simulation& simulation) {
    const Books books = make_books({LockKind::read, LockKind::write});
    compare_several(simulation, books);
    for (const std::string client : {"a", "b"})
      simulation.actor([&simulation, books, client]() -> asio::awaitable<void> {
        const LockRegistry registry{simulation.client(client, observed(books)), "/locks"};
        const LockOptions options =
            client == "a" ? LockOptions{} : LockOptions{.wait = 300ms, .tries = 3, .interval = 100ms};
        auto using_it = use(simulation, client, client == "a" ? 0ms : 100ms, 600ms, [&registry, options](auto token) {
          registry.async_lock("stock", Isolation::write, options, std::move(token));
        });
        co_await std::move(using_it);
      });
  };
  test::check_exploration(scenario, 150);
}

TEST_CASE("a loss is told within a ninth of the session timeout, though the holder does nothing, whatever fails") {
  const auto scenario = [](Simulation& simulation) {
    const Books books = make_books({LockKind::mutex});
    const auto lost_since = std::make_shared<std::optional<Clock::time_point>>();
    const auto lease = std::make_shared<Lease>();
    simulation.invariant("no loss stays untold", [&simulation, books, lost_since, lease] {
      if (lease->state() != LeaseState::lost) return true;
      if (!*lost_since) *lost_since = Clock::now();
      const auto since = std::max(**lost_since, simulation.woke());
      return Clock::now() <= since + 10s / 9 + 100ms || books->seen().grants.under_way.empty();
    });
    simulation.actor([&simulation, books, lease]() -> asio::awaitable<void> {
      const InterProcessMutex mutex{simulation.client("a", observed(books)), directory};
      auto acquiring = simulation.operation<Lease>("a", {"acquire"},
                                                   [&mutex](auto token) { mutex.async_acquire(std::move(token)); });
      auto [error, acquired] = co_await std::move(acquiring);
      if (error) co_return;
      *lease = std::move(acquired);
      co_await pause(25s);
      *lease = Lease{};
    });
  };
  test::check_exploration(scenario, 100);
}

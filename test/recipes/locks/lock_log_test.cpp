// What the log says about a lock's life.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/log.hpp"

#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::Log;
using zklock::test::LogLevel;
using zklock::test::LogLine;
using zklock::test::pause;

namespace {

constexpr std::chrono::milliseconds timeout = 10s;
const std::string directory = "/locks/orders";

ClientConfig config(const Log& log) {
  return {.session_timeout = timeout, .retry = ExponentialBackoffRetry{20ms, 8}, .logger = log.logger()};
}

InterProcessMutex mutex_of(Simulation& simulation, const std::string& who, const Log& log) {
  return {simulation.client(who, config(log)), directory};
}

asio::awaitable<Lease> acquire(const InterProcessMutex& mutex) {
  auto [error, lease] = co_await mutex.async_acquire(asio::as_tuple(asio::deferred));
  CHECK_FALSE(error);
  co_return std::move(lease);
}

void play(std::function<asio::awaitable<void>(Simulation&)> body) {
  Simulation simulation;
  simulation.actor([&] { return body(simulation); });
  simulation.run();
  INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
  CHECK(simulation.failures().empty());
}

/// The phases only, in their order.
std::string story(const std::vector<LogLine>& lines) {
  std::string phases;
  for (const LogLine& line : lines) {
    const auto begin = line.text.find("event=");
    if (begin == std::string::npos) continue;
    phases += (phases.empty() ? "" : " ") + line.text.substr(begin + 6, line.text.find(' ', begin) - begin - 6);
  }
  return phases;
}

std::string after(const LogLine& line, const std::string& key) {
  const auto begin = line.text.find(key);
  if (begin == std::string::npos) return {};
  return line.text.substr(begin + key.size(), line.text.find(' ', begin) - begin - key.size());
}

}  // namespace

TEST_CASE("the log tells a lock's life: asked, enqueued, waiting behind which node, granted, released") {
  const Log a;
  const Log b;
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    auto first = std::make_unique<Lease>(co_await acquire(mutex_of(simulation, "a", a)));
    const std::string ahead = first->node_path().substr(directory.size() + 1);
    const InterProcessMutex mutex = mutex_of(simulation, "b", b);
    std::optional<Lease> second;
    mutex.async_acquire(
        asio::bind_executor(simulation.executor(), [&](error_code, Lease lease) { second = std::move(lease); }));
    co_await pause(300ms);
    first.reset();
    co_await pause(1s);
    REQUIRE(second);
    const std::int64_t token = second->fencing_token();
    co_await second->async_release(asio::use_awaitable);
    INFO(b.text());
    CHECK(story(a.lines()) == "asked enqueued granted released");
    CHECK(story(b.lines()) == "asked enqueued waiting granted released");
    REQUIRE(b.count("event=waiting") == 1);
    CHECK(b.with({"event=waiting"})[0].has("behind=\"" + ahead + "\""));
    REQUIRE(b.count("event=granted") == 1);
    const LogLine granted = b.with({"event=granted"})[0];
    CHECK(granted.has("zklock: session=0x"));
    CHECK(granted.has(" path=\"" + directory + "\" lock=mutex "));
    CHECK(after(granted, "token=") == std::to_string(token));
    CHECK(std::stod(after(granted, "waited=")) >= 300);
    for (const LogLine& line : b.with({"event="})) {
      CHECK(line.level == LogLevel::debug);
      CHECK(after(line, "attempt=") == after(granted, "attempt="));
    }
  });
}

TEST_CASE("the log distinguishes attempts that timed out, were cancelled, or failed") {
  const Log holders;
  const Log log;
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    const Lease lease = co_await acquire(mutex_of(simulation, "a", holders));
    const InterProcessMutex mutex = mutex_of(simulation, "b", log);
    const auto tuple = asio::as_tuple(asio::deferred);
    auto once = co_await mutex.async_acquire(0ms, tuple);
    auto for_a_while = co_await mutex.async_acquire(500ms, tuple);
    asio::cancellation_signal signal;
    mutex.async_acquire(
        60s, asio::bind_cancellation_slot(signal.slot(),
                                          asio::bind_executor(simulation.executor(), [](error_code, const Lease&) {})));
    co_await pause(100ms);
    signal.emit(asio::cancellation_type::terminal);
    co_await pause(100ms);
    const InterProcessReadWriteLock both{simulation.client("b", config(log)), "/rw"};
    const Owner owner = Owner::make();
    auto reading = co_await both.read_lock().async_acquire(owner, tuple);
    auto writing = co_await both.write_lock().async_acquire(owner, tuple);
    CHECK(std::get<0>(writing) == Error::would_deadlock);
    INFO(log.text());
    CHECK(story(log.with({directory})) ==
          "asked enqueued timed_out asked enqueued waiting timed_out asked enqueued waiting cancelled");
    CHECK(story(log.with({"lock=write"})) == "asked refused");
    CHECK(log.with({"lock=write", "event=refused", "error=" + std::to_string(std::get<0>(writing).value())}).size() ==
          1);
  });
}

TEST_CASE("the log tells of re-entry and of a request to revoke") {
  const Log log;
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessMutex mutex = mutex_of(simulation, "a", log);
    const Owner owner = Owner::make();
    Lease outer = co_await mutex.async_acquire(owner, asio::use_awaitable);
    Lease inner = co_await mutex.async_acquire(owner, asio::use_awaitable);
    Client& client = simulation.client("a");
    outer.async_wait_revocation(asio::bind_executor(simulation.executor(), [](error_code) {}));
    co_await async_attempt_revoke(client, outer.node_path(), asio::use_awaitable);
    co_await pause(100ms);
    co_await inner.async_release(asio::use_awaitable);
    co_await outer.async_release(asio::use_awaitable);
    INFO(log.text());
    CHECK(story(log.lines()) == "asked enqueued granted reentered revocation_requested released");
    CHECK(log.with({"event=reentered", "count=2"}).size() == 1);
  });
}

TEST_CASE("an attempt that waits for its owner's other attempt re-enters when that is granted, and fails with it") {
  const Log log;
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessMutex mutex = mutex_of(simulation, "a", log);
    const Owner owner = Owner::make();
    std::vector<Lease> leases;
    std::vector<error_code> errors;
    const auto ask = [&](const InterProcessMutex& lock) {
      lock.async_acquire(owner, asio::bind_executor(simulation.executor(), [&](error_code error, Lease lease) {
                           if (error)
                             errors.push_back(error);
                           else
                             leases.push_back(std::move(lease));
                         }));
    };
    ask(mutex);
    ask(mutex);
    co_await pause(1s);
    REQUIRE(leases.size() == 2);
    CHECK(leases[0].count() == 2);
    const std::string token = std::to_string(leases[0].fencing_token());
    leases.clear();
    co_await pause(100ms);
    INFO(log.text());
    CHECK(story(log.lines()) == "asked asked enqueued granted reentered released");
    REQUIRE(log.count("event=reentered") == 1);
    const LogLine again = log.with({"event=reentered"})[0];
    CHECK(after(again, "attempt=") == after(log.with({"event=asked"})[1], "attempt="));
    CHECK(after(again, "token=") == token);
    CHECK(again.has(" count=2"));
  });
}

TEST_CASE("an acquire that is cancelled while there is no connection is cancelled in the log, too") {
  const Log log;
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessMutex mutex = mutex_of(simulation, "a", log);
    const InterProcessSemaphore semaphore{simulation.client("a"), "/permits", 2};
    simulation.ensemble().refuse_connections();
    simulation.ensemble().cut_all();
    co_await pause(100ms);
    asio::cancellation_signal signals[2];
    std::vector<error_code> errors;
    const auto heard = [&](error_code error, const Lease&) { errors.push_back(error); };
    const auto token = [&](asio::cancellation_signal& signal) {
      return asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(simulation.executor(), heard));
    };
    mutex.async_acquire(60s, token(signals[0]));
    semaphore.async_acquire(60s, token(signals[1]));
    co_await pause(100ms);
    for (auto& signal : signals) signal.emit(asio::cancellation_type::terminal);
    co_await pause(100ms);
    const error_code aborted = asio::error::operation_aborted;
    CHECK(errors == std::vector{aborted, aborted});
    INFO(log.text());
    CHECK(story(log.lines()) == "asked asked cancelled cancelled");
    // At the deadline the error is that there was no connection.
    auto [error, lease] = co_await mutex.async_acquire(300ms, asio::as_tuple(asio::deferred));
    CHECK(error == Error::not_connected);
    CHECK(story(log.lines()) == "asked asked cancelled cancelled asked failed");
  });
}

TEST_CASE("the attempts of a multi-lock that times out are logged as timed out") {
  const Log holders;
  const Log log;
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    const Lease lease = co_await acquire(mutex_of(simulation, "a", holders));
    const InterProcessMultiLock both{simulation.client("b", config(log)), {"/free", directory}};
    auto [error, none] = co_await both.async_acquire(500ms, asio::as_tuple(asio::deferred));
    CHECK(error == Error::timed_out);
    co_await pause(100ms);
    INFO(log.text());
    CHECK(story(log.with({directory})) == "asked enqueued waiting timed_out");
  });
}

TEST_CASE("permits are logged as locks are: each is granted and released, and the waiter waits for them") {
  const Log log;
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessSemaphore semaphore{simulation.client("a", config(log)), "/permits", 2};
    auto both = co_await semaphore.async_acquire_many(2, asio::use_awaitable);
    auto [error, none] = co_await semaphore.async_acquire(300ms, asio::as_tuple(asio::deferred));
    CHECK(error == Error::timed_out);
    both.clear();
    co_await pause(100ms);
    INFO(log.text());
    CHECK(story(log.with({"lock=permit"})) == "asked granted granted asked waiting timed_out released released");
  });
}

// ---- losses

namespace {

/// A lease that the program does not look at, and what the log says about its end.
void lose(const std::function<asio::awaitable<void>(Simulation&, const std::string&)>& fault, const std::string& cause,
          LogLevel level = LogLevel::warning) {
  CAPTURE(cause);
  const Log log{LogLevel::info};
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    auto lease = std::make_unique<Lease>(co_await acquire(mutex_of(simulation, "a", log)));
    const std::string token = std::to_string(lease->fencing_token());
    co_await pause(20s);
    CHECK(log.count("event=") == 0);
    auto losing = fault(simulation, lease->node_path());
    co_await std::move(losing);
    co_await pause(timeout);
    if (cause == "node_deleted") lease.reset();  // the client cannot know before
    co_await pause(1s);
    INFO(log.text());
    REQUIRE(log.count("event=") == 1);
    const LogLine line = log.with({"event=lost"}).at(0);
    CHECK(line.level == level);
    CHECK(line.has("path=\"" + directory + "\""));
    CHECK(after(line, "token=") == token);
    CHECK(after(line, "cause=") == cause);
    CHECK(std::stod(after(line, "held=")) >= 20'000);
    simulation.ensemble().heal();
    co_await pause(1s);
    lease.reset();
    co_await pause(1s);
    CHECK(log.count("event=") == 1);
  });
}

}  // namespace

TEST_CASE("the loss of a lock that the program does not look at is one warning, with path, token and cause") {
  lose(
      [](Simulation& simulation, std::string) -> asio::awaitable<void> {
        simulation.ensemble().expire(simulation.client("a").session().id());
        co_return;
      },
      "session_expired");
  lose(
      [](Simulation& simulation, std::string) -> asio::awaitable<void> {
        simulation.ensemble().hold_all_replies();
        co_return;
      },
      "validity_passed");
  lose(
      [](Simulation& simulation, std::string node) -> asio::awaitable<void> {
        simulation.ensemble().remove(node);
        co_return;
      },
      "node_deleted");
}

TEST_CASE("a lock that ends because its client is closed causes no warning") {
  lose([](Simulation& simulation,
          std::string) -> asio::awaitable<void> { co_await simulation.client("a").async_close(asio::use_awaitable); },
       "closed", LogLevel::info);
}

TEST_CASE("a lease that had run out when its client was closed was lost, and that is one warning") {
  lose(
      [](Simulation& simulation, std::string) -> asio::awaitable<void> {
        simulation.oversleep(simulation.client("a").session().valid_until());
        co_await simulation.client("a").async_close(asio::use_awaitable);
      },
      "validity_passed");
  lose(
      [](Simulation& simulation, std::string) -> asio::awaitable<void> {
        simulation.oversleep(Clock::now() + timeout);
        co_await simulation.client("a").async_close(asio::use_awaitable);
      },
      "session_expired");
}

TEST_CASE("what has ended a lease is its cause, whatever ends its session before the log has it") {
  const Log log{LogLevel::info};
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    auto lease = std::make_unique<Lease>(co_await acquire(mutex_of(simulation, "a", log)));
    simulation.oversleep(lease->valid_until());
    CHECK_FALSE(lease->is_held());
    lease.reset();
    co_await simulation.client("a").async_close(asio::use_awaitable);
    co_await pause(1s);
    INFO(log.text());
    REQUIRE(log.count("event=") == 1);
    CHECK(log.with({"event=lost"}).at(0).level == LogLevel::warning);
    CHECK(after(log.with({"event=lost"}).at(0), "cause=") == "validity_passed");
  });
}

TEST_CASE("an untroubled lock writes nothing above the debug level") {
  const Log log{LogLevel::info};
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessMutex mutex = mutex_of(simulation, "a", log);
    for (int i = 0; i < 10; ++i) {
      const Lease lease = co_await acquire(mutex);
    }
    CHECK(log.count("path=") == 0);
  });
}

// ---- one end for each beginning

namespace {

/// Each attempt has one end. An attempt without an end of its own has re-entered the lock that its owner's other
/// attempt was granted.
bool is_balanced(const Log& log) {
  std::map<std::string, std::multiset<std::string>> attempts;
  for (const LogLine& line : log.with({"event="})) attempts[after(line, "attempt=")].insert(after(line, "event="));
  return std::ranges::all_of(attempts, [](const auto& attempt) {
    const auto& events = attempt.second;
    const auto granted = events.count("granted");
    const auto ended = granted + events.count("timed_out") + events.count("cancelled") + events.count("failed");
    const bool has_one_end = ended == 1 || (ended == 0 && events.count("reentered") == 1);
    return events.count("asked") == 1 && has_one_end && granted == events.count("released") + events.count("lost");
  });
}

}  // namespace

TEST_CASE("each attempt in the log has one end, and so has each grant, whatever fails") {
  const auto scenario = [](Simulation& simulation) {
    const auto log = std::make_shared<Log>();
    const Owner shared = Owner::make();
    for (const std::string who : {"a", "b", "c", "d"})
      simulation.actor([&simulation, log, who, shared]() -> asio::awaitable<void> {
        co_await pause(who == "a" ? 0ms : 100ms);
        const std::string client = who == "a" ? "a" : "b";                      // three of one client,
        const Owner owner = who == "a" || who == "b" ? Owner::make() : shared;  // and two of one owner
        const InterProcessMutex mutex{simulation.client(client, config(*log)), directory};
        auto acquiring = simulation.operation<Lease>(
            client, {"acquire"}, [&](auto token) { mutex.async_acquire(owner, 5s, std::move(token)); });
        auto [error, lease] = co_await std::move(acquiring);
        co_await pause(500ms);
        if (!error && who == "b") {
          auto releasing =
              simulation.operation<>(client, {.name = "release", .can_be_cancelled = false},
                                     [&lease = lease](auto token) { lease.async_release(std::move(token)); });
          co_await std::move(releasing);
        }
      });
    simulation.at_the_end("the log's books balance", [log] { return is_balanced(*log); });
    simulation.at_the_end("the log tells the callers' story", [&simulation, log] {
      const auto ended = [&](error_code outcome) {
        return std::ranges::count_if(simulation.operations(), [&](const Simulation::Operation& each) {
          return each.name == "acquire" && each.outcome == outcome;
        });
      };
      const auto told = [&](const std::string& phase) { return std::ssize(log->with({"event=" + phase + " "})); };
      return told("granted") + told("reentered") == ended(error_code{}) &&
             told("timed_out") == ended(make_error_code(Error::timed_out)) &&
             told("cancelled") == ended(asio::error::operation_aborted);
    });
  };
  test::check_exploration(scenario, 200);
}

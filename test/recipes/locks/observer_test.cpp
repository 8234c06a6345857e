// What an observer is told of a lock, phase by phase, and of slow waits.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/log.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/lock_observer.hpp>

#include <boost/asio/use_awaitable.hpp>

#include <stdexcept>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::Log;
using zklock::test::LogLevel;
using zklock::test::pause;

namespace {

const std::string directory = "/locks/orders";

/// Keeps the story, and what the slow waits said.
struct Listener : Observer, LockObserver {
  void on_lock(const LockEvent& event) override {
    if (event.kind == LockKind::mutex && event.path != directory) return;  // a semaphore's own
    story += (story.empty() ? "" : " ") + std::string{to_string(event.phase)};
    if (event.phase == LockPhase::asked) attempt = event.attempt;
    same_attempt = same_attempt && event.attempt == attempt;
    if (event.phase == LockPhase::granted) token = event.fencing_token;
    if (event.phase != LockPhase::slow) return;
    waited.push_back(*event.waited);
    ahead = event.ahead;
    holder = event.holder ? std::string{event.holder->client_id} : "";
  }
  void on_request(const RequestEvent& event) override {
    if (event.phase == RequestPhase::begun) return;
    requests += (requests.empty() ? "" : " ") + std::string{event.operation};
    if (event.children) children = event.children;
    if (event.operation == "create" && event.stat) created = event.stat->czxid;
  }
  void on_state(const StateEvent& event) override {
    states += (states.empty() ? "" : " ") + std::string{to_string(event.to)};
    session_id = event.session_id;
    session_timeout = event.session_timeout;
  }

  std::string story{};
  std::uint64_t attempt = 0;
  bool same_attempt = true;
  std::int64_t token = 0;
  std::vector<Clock::duration> waited{};
  std::optional<std::size_t> ahead{};
  std::string holder{};
  std::string requests{};
  std::optional<std::size_t> children{};
  std::int64_t created = 0;
  std::string states{};
  std::int64_t session_id = 0;
  std::chrono::milliseconds session_timeout{};
};

ClientConfig observed(std::shared_ptr<Observer> observer, const Log* log = nullptr) {
  ClientConfig config{.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}};
  if (observer) config.observers = {std::move(observer)};
  if (log) config.logger = log->logger();
  return config;
}

void play(std::function<asio::awaitable<void>(Simulation&)> body) {
  Simulation simulation;
  simulation.actor([&] { return body(simulation); });
  simulation.run();
  INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
  CHECK(simulation.failures().empty());
}

/// A holder that stays, and a waiter of another client, for this long.
void wait_behind(std::chrono::milliseconds wait, ClientConfig config,
                 const std::function<void(Simulation&)>& meanwhile = nullptr) {
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessMutex mine{simulation.client("holder", {.session_timeout = 10s, .client_id = "holder"}),
                                 directory};
    const Lease lease = co_await mine.async_acquire();
    const InterProcessMutex theirs{simulation.client("waiter", config), directory};
    if (meanwhile) simulation.after(1s, [&] { meanwhile(simulation); });
    co_await theirs.async_acquire(wait, asio::as_tuple(asio::deferred));
  });
}

}  // namespace

TEST_CASE("an observer is told a lock's life, with one number for each attempt") {
  const auto listener = std::make_shared<Listener>();
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessMutex mutex{simulation.client("a", observed(listener)), directory};
    Lease lease = co_await mutex.async_acquire();
    CHECK(listener->token == lease.fencing_token());
    simulation.ensemble().cut_all();
    co_await pause(2s);
    co_await lease.async_release();
  });
  CHECK(listener->story == "asked enqueued granted suspect held_again released");
  CHECK(listener->same_attempt);
}

TEST_CASE("an observer is told of requests and of the session's states") {
  const auto listener = std::make_shared<Listener>();
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    Client& client = simulation.client("a", observed(listener));
    const auto made = co_await client.async_create("/a", "data", CreateMode::ephemeral);
    CHECK(listener->created == made.stat.czxid);
    CHECK(listener->session_id == client.session().id());
    CHECK(listener->session_timeout == 10s);
    co_await client.async_get_children("/");
    CHECK(listener->requests == "create get_children");
    CHECK(listener->children == 2U);
    simulation.ensemble().cut_all();
    co_await pause(1s);
    simulation.ensemble().expire(client.session().id());
    simulation.ensemble().cut_all();
    co_await pause(1s);
  });
  CHECK(listener->states == "connected suspended reconnected suspended lost reconnected closed");
}

TEST_CASE("an exception of an observer harms no lock, and is logged once") {
  struct Thrower : Observer, LockObserver {
    void on_lock(const LockEvent&) override { throw std::runtime_error{"observer"}; }
    void on_request(const RequestEvent&) override { throw 7; }
    void on_state(const StateEvent&) override { throw std::runtime_error{"observer"}; }
  };
  const Log log;
  const auto listener = std::make_shared<Listener>();
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    ClientConfig config = observed(std::make_shared<Thrower>(), &log);
    config.observers.push_back(listener);
    const InterProcessMutex mutex{simulation.client("a", config), directory};
    Lease lease = co_await mutex.async_acquire();
    co_await lease.async_release();
  });
  CHECK(listener->story == "asked enqueued granted released");
  CHECK(log.count("an observer has thrown") == 2);  // one for the core's list, and one for that of the locks
}

TEST_CASE("a client refuses an observer that is null, and a negative slow_wait") {
  FakeEnsemble ensemble;
  CHECK_THROWS_AS(ensemble.make_client({.observers = {nullptr}}), boost::system::system_error);
  CHECK_THROWS_AS(ensemble.make_client({.slow_wait = -1ms}), boost::system::system_error);
}

TEST_CASE("a waiter says after slow_wait which client holds the lock, and again after ten times that") {
  const Log log{LogLevel::warning};
  const auto listener = std::make_shared<Listener>();
  wait_behind(60s, observed(listener, &log));
  REQUIRE(listener->waited.size() == 2);
  CHECK(listener->waited[0] >= 5s);
  CHECK(listener->waited[0] < 6s);
  CHECK(listener->waited[1] >= 50s);
  CHECK(listener->waited[1] < 52s);
  CHECK(listener->ahead == 1U);
  CHECK(listener->holder == "holder");
  INFO(log.text());
  REQUIRE(log.count("event=slow") == 2);
  const auto line = log.with({"event=slow"})[0];
  CHECK(line.level == LogLevel::warning);
  CHECK(line.has("path=\"/locks/orders\" lock=mutex event=slow "));
  CHECK(line.has("still waiting after 5.0 s; 1 ahead; held by \"holder\", session 0x"));
}

TEST_CASE("without a link a slow wait names no holder, and without slow_wait or a listener it is not told") {
  const auto listener = std::make_shared<Listener>();
  SECTION("no link") {
    wait_behind(7s, observed(listener), [](Simulation& simulation) {
      simulation.ensemble().refuse_connections();
      simulation.ensemble().cut_all();
      simulation.after(5s, [&] { simulation.ensemble().accept_connections(); });
    });
    CHECK(listener->waited.size() == 1);
    CHECK(listener->holder.empty());
  }
  SECTION("no slow_wait") {
    ClientConfig config = observed(listener);
    config.slow_wait = 0ms;
    wait_behind(60s, config);
    CHECK(listener->waited.empty());
  }
  SECTION("nothing hears it: no request is spent") {
    const auto reads_if_heard_by = [](const std::shared_ptr<Listener>& heard_by) {
      int reads = 0;
      wait_behind(20s, observed(heard_by), [&reads](Simulation& simulation) {  // the wait queue is listed by then
        simulation.ensemble().on_call([&reads](const FakeCall& call) {
          if (!call.applied && call.operation.starts_with("get_")) ++reads;
          return FakeFault::none;
        });
      });
      return reads;
    };
    CHECK(reads_if_heard_by(nullptr) == 0);
    CHECK(reads_if_heard_by(listener) == 2);  // a list of the queue, and the holder's data
  }
}

TEST_CASE("a slow waiter for permits names the oldest holder") {
  const auto listener = std::make_shared<Listener>();
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessSemaphore mine{simulation.client("holder", {.session_timeout = 10s, .client_id = "holder"}),
                                     directory, 1};
    const Lease lease = co_await mine.async_acquire();
    const InterProcessSemaphore theirs{simulation.client("waiter", observed(listener)), directory, 1};
    co_await theirs.async_acquire(10s, asio::as_tuple(asio::deferred));
  });
  CHECK(listener->holder == "holder");
  CHECK(listener->ahead == 1U);
}

TEST_CASE("many slow waiters of a client on one path cost one list and one read") {
  const auto listener = std::make_shared<Listener>();
  play([&](Simulation& simulation) -> asio::awaitable<void> {
    const InterProcessMutex mutex{simulation.client("a", observed(listener)), directory};
    const Lease lease = co_await mutex.async_acquire();
    for (int i = 0; i < 20; ++i)
      mutex.async_acquire(30s, asio::bind_executor(simulation.executor(), [](error_code, const Lease&) {}));
    co_await pause(1s);
    listener->requests.clear();
    co_await pause(6s);
    CHECK(listener->waited.size() == 20);
    CHECK(listener->requests == "get_children get_data");
    co_await pause(30s);
  });
}

TEST_CASE("a waiter that is gone leaves no timer: a closed client keeps its context no longer") {
  Simulation simulation;
  const auto listener = std::make_shared<Listener>();
  Clock::time_point closed{};
  simulation.actor([&]() -> asio::awaitable<void> {
    Client& client = simulation.client("a", observed(listener));
    const InterProcessMutex mutex{client, directory};
    {
      const Lease lease = co_await mutex.async_acquire();
      co_await mutex.async_acquire(500ms, asio::as_tuple(asio::deferred));
    }
    co_await pause(100ms);
    co_await client.async_close();
    closed = Clock::now();
  });
  simulation.run();
  CHECK(simulation.failures().empty());
  CHECK(Clock::now() < closed + 4s);
}

// What operations that wait for a connection end with, and how many may wait.
#include "support/catch.hpp"

#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/testing/simulation.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <memory>
#include <optional>
#include <string>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

/// How an operation has ended, and when.
struct Ended {
  std::optional<error_code> error{};
  Clock::time_point at{};
};

class Fixture {
 protected:
  Simulation simulation{};
  FakeEnsemble& ensemble = simulation.ensemble();

  void run(Clock::duration wait) { simulation.clock().run_for(simulation.context(), wait); }

  static auto note(const std::shared_ptr<Ended>& ended) {
    return [ended](error_code error, const auto&...) {
      ended->error = error;
      ended->at = Clock::now();
    };
  }
  template <class Operation>
  std::shared_ptr<Ended> start(Operation&& operation) {
    auto ended = std::make_shared<Ended>();
    std::forward<Operation>(operation)(asio::bind_executor(simulation.executor(), note(ended)));
    return ended;
  }
  std::shared_ptr<Ended> read(const Client& client) {
    return start([&](auto token) { client.async_get_data("/", std::move(token)); });
  }
  /// Cuts the client's link and refuses new connections.
  void cut_off() {
    ensemble.refuse_connections();
    ensemble.cut_all();
    run(10ms);
  }
};

const ClientConfig config{.session_timeout = 30s, .connection_timeout = 15s, .operation_timeout = 60s};

}  // namespace

TEST_CASE_METHOD(Fixture, "an operation not sent for lack of a connection says so, and its outcome is definite") {
  Client& client = simulation.client("a", config);
  run(1s);
  const Session session = client.session();
  cut_off();
  const auto of_session = start([&](auto token) { session.async_create("/x", "", CreateMode::persistent, token); });
  const auto start_of_wait = Clock::now();
  const auto of_client = start([&](auto token) { client.async_create("/x", "", CreateOptions{}, std::move(token)); });
  run(1ms);
  REQUIRE(of_session->error);
  CHECK(*of_session->error == Error::not_connected);
  CHECK(outcome_of(*of_session->error) == Outcome::not_applied);
  run(16s);
  REQUIRE(of_client->error);
  CHECK(*of_client->error == Error::not_connected);
  CHECK(of_client->at - start_of_wait == 15s);
}

TEST_CASE_METHOD(Fixture, "a deadline ends as not_connected without a connection and as timed_out in the queue") {
  Client& holder = simulation.client("holder", config);
  Client& client = simulation.client("a", config);
  run(1s);
  const InterProcessMutex theirs{holder, "/lock"};
  Lease held;
  theirs.async_acquire(
      asio::bind_executor(simulation.executor(), [&](error_code, Lease lease) { held = std::move(lease); }));
  run(1s);
  REQUIRE(held.is_held());
  const InterProcessMutex mutex{client, "/lock"};
  const InterProcessSemaphore semaphore{client, "/semaphore", 1};
  const InterProcessMultiLock several{client, {"/lock", "/other"}};
  const auto acquire = [&](const auto& lock) {
    return start([&](auto token) { lock.async_acquire(5s, std::move(token)); });
  };
  const auto contended = acquire(mutex);
  const auto contended_too = acquire(several);
  run(6s);
  CHECK(contended->error == Error::timed_out);
  CHECK(contended_too->error == Error::timed_out);
  const auto in_queue = acquire(mutex);
  run(1s);
  cut_off();
  const auto start_of_wait = Clock::now();
  const auto of_mutex = acquire(mutex);
  const auto of_semaphore = acquire(semaphore);
  const auto of_several = acquire(several);
  const auto hasty = start([&](auto token) { mutex.async_acquire(1ms, std::move(token)); });
  run(6s);
  for (const auto& each : {of_mutex, of_semaphore, of_several}) {
    CHECK(each->error == Error::not_connected);
    CHECK(each->at - start_of_wait == 5s);
  }
  CHECK(hasty->error == Error::not_connected);
  CHECK(in_queue->error == Error::timed_out);
}

TEST_CASE_METHOD(Fixture, "a cancelled operation ends as cancelled also while there is no connection") {
  Client& client = simulation.client("a", config);
  run(1s);
  cut_off();
  asio::cancellation_signal cancel;
  const InterProcessMutex mutex{client, "/lock"};
  const auto acquired = start(
      [&](auto token) { mutex.async_acquire(5s, asio::bind_cancellation_slot(cancel.slot(), std::move(token))); });
  asio::cancellation_signal cancel_read;
  const auto read = start([&](auto token) {
    client.async_get_data("/", asio::bind_cancellation_slot(cancel_read.slot(), std::move(token)));
  });
  run(1s);
  cancel.emit(asio::cancellation_type::terminal);
  cancel_read.emit(asio::cancellation_type::terminal);
  run(1ms);
  CHECK(acquired->error == asio::error::operation_aborted);
  CHECK(read->error == asio::error::operation_aborted);
}

TEST_CASE_METHOD(Fixture, "an operation ends at its time-out, whatever the servers do") {
  Client& client = simulation.client(
      "a", {.session_timeout = 30s, .connection_timeout = 1h, .operation_timeout = 500ms, .retry = RetryForever{1ms}});
  run(1s);
  SECTION("they do not answer") { ensemble.hold_all_replies(); }
  SECTION("they cannot be reached") { cut_off(); }
  SECTION("they lose each request") {
    ensemble.on_call([](const FakeCall& call) { return call.applied ? FakeFault::none : FakeFault::cut; });
  }
  const auto start_of_wait = Clock::now();
  const auto reading = read(client);
  run(2s);
  CHECK(reading->error);
  CHECK(reading->at - start_of_wait == 500ms);
}

TEST_CASE_METHOD(Fixture, "one try for a lock takes no longer than connection_timeout, whatever fails") {
  enum class Fault { no_reply, lost_link, no_server };
  const auto fault = GENERATE(Fault::no_reply, Fault::lost_link, Fault::no_server);
  CAPTURE(static_cast<int>(fault));
  if (fault == Fault::no_server) ensemble.refuse_connections();
  Client& client = simulation.client("a", {.session_timeout = 30s, .connection_timeout = 2s});
  run(1s);
  if (fault == Fault::no_reply) ensemble.hold_all_replies();
  if (fault == Fault::lost_link) cut_off();
  const Error expected = fault == Fault::no_reply ? Error::connection_loss : Error::not_connected;
  const InterProcessMutex mutex{client, "/lock"};
  const InterProcessSemaphore semaphore{client, "/semaphore", 1};
  const InterProcessMultiLock several{client, {"/lock", "/other"}};
  const auto start_of_wait = Clock::now();
  const auto try_once = [&](const auto& lock) {
    return start([&](auto token) { lock.async_acquire(0s, std::move(token)); });
  };
  const auto of_mutex = try_once(mutex);
  const auto of_semaphore = try_once(semaphore);
  const auto of_several = try_once(several);
  run(3s);
  for (const auto& each : {of_mutex, of_semaphore, of_several}) {
    REQUIRE(each->error);
    CHECK(*each->error == expected);
    CHECK(each->at - start_of_wait == 2s);
  }
  ensemble.heal();
  run(60s);
  for (const FakeNode& node : ensemble.nodes()) CHECK(node.stat.ephemeral_owner == 0);
}

TEST_CASE_METHOD(Fixture, "a link that is lost in the middle of one try does not prolong it") {
  Client& client = simulation.client("a", {.session_timeout = 30s, .connection_timeout = 2s});
  run(1s);
  ensemble.on_call([&](const FakeCall& call) {
    return call.operation == "create" && !call.applied ? FakeFault::cut : FakeFault::none;
  });
  ensemble.refuse_connections();
  const InterProcessMutex mutex{client, "/lock"};
  const auto start_of_wait = Clock::now();
  const auto tried = start([&](auto token) { mutex.async_acquire(0s, std::move(token)); });
  run(40s);
  CHECK(tried->error == Error::connection_loss);
  CHECK(tried->at - start_of_wait == 2s);
}

TEST_CASE_METHOD(Fixture, "a guaranteed delete that could not be sent goes on in the background") {
  Client& client = simulation.client("a", config);
  run(1s);
  const auto made = start([&](auto token) { client.async_create("/x", "", CreateOptions{}, std::move(token)); });
  run(1s);
  REQUIRE(ensemble.nodes().size() == 2);
  cut_off();
  const auto removed =
      start([&](auto token) { client.async_remove("/x", RemoveOptions{}.guaranteed(), std::move(token)); });
  run(16s);
  CHECK(removed->error == Error::not_connected);
  ensemble.heal();
  run(10s);
  CHECK(ensemble.nodes().size() == 1);
}

TEST_CASE_METHOD(Fixture, "at most max_outstanding operations are under way, and one more is not begun") {
  Client& client = simulation.client("a", {.session_timeout = 30s, .max_outstanding = 3});
  run(1s);
  const auto made = start([&](auto token) { client.async_create("/x", "", CreateOptions{}, std::move(token)); });
  run(1s);
  REQUIRE_FALSE(*made->error);
  const auto calls = ensemble.counters().calls;
  ensemble.hold_all_replies();
  std::vector<std::shared_ptr<Ended>> reads;
  for (int i = 0; i < 3; ++i) reads.push_back(read(client));
  const auto one_more = start([&](auto token) { client.async_create("/y", "", CreateOptions{}, std::move(token)); });
  const auto guaranteed =
      start([&](auto token) { client.async_remove("/x", RemoveOptions{}.guaranteed(), std::move(token)); });
  CHECK_FALSE(one_more->error);  // not inside the call
  run(1s);
  CHECK(one_more->error == Error::too_many_operations);
  CHECK(outcome_of(*one_more->error) == Outcome::not_applied);
  CHECK(ensemble.counters().calls - calls == 4);  // three reads, one delete
  ensemble.release_replies();
  run(1s);
  for (const auto& each : reads) CHECK_FALSE(*each->error);
  CHECK_FALSE(*guaranteed->error);
  const auto again = read(client);
  run(1s);
  REQUIRE(again->error);
  CHECK_FALSE(*again->error);
}

TEST_CASE_METHOD(Fixture, "the client says which servers it does not reach, and for how long") {
  ensemble.refuse_connections();
  Client& client = simulation.client("a", config);
  run(2500ms);
  CHECK(client.connection_trouble().find("no connection to ") == 0);
  CHECK(client.connection_trouble().find(" for 2.5 s") != std::string::npos);
  ensemble.accept_connections();
  run(5s);
  CHECK(client.connection_trouble().empty());
  cut_off();
  run(1s);
  CHECK(client.connection_trouble().find(" for 1.0 s") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a jitter of any length is accepted") {
  const Client& client =
      simulation.client("a", {.session_timeout = 30s, .reconnect_jitter = std::chrono::milliseconds::max()});
  CHECK(Clock::duration{client.config().reconnect_jitter} >= 30s);
}

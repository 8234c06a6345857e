// InterProcessSemaphore while servers are killed and sessions end.
#include "support/catch.hpp"
#include "support/frame_proxy.hpp"
#include "support/lock_fixture.hpp"
#include "support/semaphore.hpp"

#include <algorithm>

using namespace zklock;
using namespace zklock::test;

namespace {

/// A client that observes, and one whose link can be cut.
struct Fixture : OwnServer, ObservedLock {
  FrameProxy proxy{server.port()};
  Client client{{.connect_string = proxy.address(),
                 .session_timeout = session_timeout,
                 .retry = ExponentialBackoffRetry{.base = 20ms, .max_retries = 8}}};
  Session own_session = connected_session(client);
  InterProcessSemaphore theirs{observer, path, 2};
  InterProcessSemaphore semaphore{client, path, 2};

  [[nodiscard]] std::vector<std::string> leases() const { return children_of(session, path + "/leases"); }
  [[nodiscard]] std::size_t queue_length() const { return ObservedLock::queue_length(path + "/locks"); }
  [[nodiscard]] bool nothing_left() const { return semaphore_leaves_no_trace(server, session, path); }
  [[nodiscard]] error_code remove(const std::string& node) const {
    return std::get<0>(outcome_of_operation<>([&](auto token) { session.async_remove(node, std::move(token)); }));
  }

  Fixture() : ObservedLock{own_server} {}
};

}  // namespace

TEST_CASE_METHOD(Fixture,
                 "a server lost while a permit is made leaves no phantom, and every waiter gets a permit later",
                 "[faults]") {
  const Lease keeps_the_directory = acquire(theirs);
  // All waiters are in the wait queue behind this node, so the next create is that of a permit.
  std::optional<Lease> ahead = acquire(InterProcessMutex{observer, path + "/locks"});
  std::vector<Pending<Lease>> pending(10);
  for (std::size_t i = 0; i < pending.size(); ++i) semaphore.async_acquire(pending[i].handler());
  REQUIRE(eventually([&] { return queue_length() == 1 + pending.size(); }));
  const CutPoint point = GENERATE(CutPoint::before_request, CutPoint::after_request, CutPoint::before_reply);
  // New connections are refused; else a permit could be granted before the server is killed, and be suspect then.
  proxy.cut_at({.opcode = Opcode::create2, .point = point, .afterwards = Afterwards::refuse});
  ahead.reset();
  REQUIRE(eventually([&] { return proxy.cuts() == 1; }));
  SECTION("the link alone") {}
  SECTION("the server, too") {
    server.kill();
    server.start();
  }
  proxy.accept_again();
  for (auto& each : pending) {
    const auto [error, lease] = each.get();
    REQUIRE_FALSE(error);
    CHECK(lease.is_held());
    REQUIRE(eventually([&] { return session.state() == SessionState::connected; }));
    CHECK(leases().size() <= 3);  // two permits, and the waiter's node
  }
  CHECK(client.session() == own_session);
  CHECK(
      eventually([&] { return leases().size() == 1 && queue_length() == 0 && server.monitor("zk_watch_count") == 0; }));
}

TEST_CASE_METHOD(Fixture, "a permit released while the server is away goes to the waiter when the server is back",
                 "[faults]") {
  std::vector<Lease> held = theirs.acquire_many(2);
  Pending<Lease> waiter;
  semaphore.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return leases().size() == 3; }));
  server.kill();
  held.pop_back();
  CHECK_FALSE(waiter.ready(50ms));
  server.start();
  const auto [error, lease] = waiter.get();
  REQUIRE_FALSE(error);
  CHECK(lease.is_held());
  CHECK(held.front().state() != LeaseState::lost);
}

TEST_CASE_METHOD(Fixture, "a waiter for permits whose session is ended starts over", "[faults]") {
  std::vector<Lease> held = theirs.acquire_many(2);
  Pending<std::vector<Lease>> waiter;
  semaphore.async_acquire_many(2, waiter.handler());
  REQUIRE(eventually([&] { return leases().size() == 4; }));
  end(own_session);
  REQUIRE(eventually([&] { return own_session.state() == SessionState::expired && leases().size() == 4; }));
  held.clear();
  const auto [error, leases_of_two] = waiter.get();
  REQUIRE_FALSE(error);
  CHECK(leases_of_two.size() == 2);
}

TEST_CASE_METHOD(Fixture, "permits whose session is ended are lost, and free for other clients", "[faults]") {
  std::vector<Lease> held = semaphore.acquire_many(2);
  Pending<> lost;
  held.front().async_wait_lost(lost.handler());
  end(own_session);
  CHECK_FALSE(std::get<0>(lost.get()));
  CHECK(held.back().state() == LeaseState::lost);
  CHECK(std::get<0>(outcome_of_operation<>([&](auto token) { held.back().async_release(std::move(token)); })) ==
        LockError::lock_lost);
  CHECK(theirs.acquire_many(2).size() == 2);
  held.clear();
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a waiter whose nodes an operator deletes starts over, and leaves no node", "[faults]") {
  std::vector<Lease> held = theirs.acquire_many(2);
  Pending<std::vector<Lease>> waiter;
  semaphore.async_acquire_many(2, waiter.handler());
  REQUIRE(eventually([&] { return leases().size() == 4 && server.monitor("zk_watch_count") == 2; }));
  const auto is_held = [&](const std::string& name) {
    return std::ranges::any_of(held, [&](const Lease& lease) { return lease.node_path().ends_with(name); });
  };
  auto waiting = leases();
  std::erase_if(waiting, is_held);
  REQUIRE(waiting.size() == 2);
  SECTION("one of them") { REQUIRE_FALSE(remove(path + "/leases/" + waiting[0])); }
  SECTION("all leases and their directory") {
    Transaction all;
    for (const std::string& name : leases()) all.remove(path + "/leases/" + name);
    all.remove(path + "/leases");
    REQUIRE_FALSE(std::get<0>(
        outcome_of_operation<TransactionResults>([&](auto token) { session.async_commit(all, std::move(token)); })));
  }
  // The waiter has other nodes now.
  const auto starts_over = [&] {
    const auto now = leases();
    return waiter.ready() || (now.size() == 4 && std::ranges::find(now, waiting[0]) == now.end() &&
                              std::ranges::find(now, waiting[1]) == now.end());
  };
  REQUIRE(eventually(starts_over));
  held.clear();
  {
    const auto [error, leases_of_two] = waiter.get();
    REQUIRE_FALSE(error);
    CHECK(leases_of_two.size() == 2);
  }
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture,
                 "a waiter for permits whose queue node an operator deletes goes to the end, and leaves no phantom",
                 "[faults]") {
  std::vector<Lease> held = theirs.acquire_many(2);
  Pending<std::vector<Lease>> first;
  semaphore.async_acquire_many(2, first.handler());
  REQUIRE(eventually([&] { return leases().size() == 4 && queue_length() == 1; }));
  const std::string place = children_of(session, path + "/locks").front();
  const std::vector<std::string> before = leases();
  Pending<Lease> second;
  theirs.async_acquire(second.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));

  REQUIRE_FALSE(remove(path + "/locks/" + place));
  // One node of the second waiter, which waits for a permit; the first waiter is behind it in the wait queue.
  REQUIRE(eventually([&] { return leases().size() == 3 && queue_length() == 2; }));
  held.pop_back();
  const auto [error, lease] = second.get();
  REQUIRE_FALSE(error);
  CHECK_FALSE(first.ready());
  CHECK(lease.is_held());
  held.clear();
  REQUIRE(eventually([&] { return leases().size() == 3; }));  // with those of the first, which waits
  CHECK_FALSE(first.ready());
}

TEST_CASE_METHOD(Fixture, "a waiter for permits whose queue node is deleted while it waits alone leaves no phantom",
                 "[faults]") {
  std::vector<Lease> held = theirs.acquire_many(2);
  Pending<Lease> waiter;
  semaphore.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return leases().size() == 3 && queue_length() == 1; }));
  const std::string place = children_of(session, path + "/locks").front();
  REQUIRE_FALSE(remove(path + "/locks/" + place));
  REQUIRE(eventually([&] {
    const auto now = children_of(session, path + "/locks");
    return leases().size() == 3 && now.size() == 1 && now.front() != place;
  }));
  held.clear();
  CHECK_FALSE(std::get<0>(waiter.get()));
}

TEST_CASE_METHOD(Fixture, "a deadline for permits holds while the server is away, and leaves no trace when it is back",
                 "[faults]") {
  const Lease holder = acquire(theirs);
  const auto wait = 300ms;
  Pending<std::vector<Lease>> waiter;
  SECTION("from the start") { server.pause(); }
  SECTION("while it waits for permits") {
    semaphore.async_acquire_many(2, wait, waiter.handler());
    REQUIRE(eventually([&] { return leases().size() == 3; }));
    server.pause();
  }
  Pending<std::vector<Lease>> second;
  semaphore.async_acquire_many(2, wait, second.handler());
  CHECK(std::get<0>(second.get()) == Error::timed_out);
  server.resume();
  REQUIRE(eventually([&] { return session.state() == SessionState::connected; }));
  CHECK(
      eventually([&] { return leases().size() == 1 && queue_length() == 0 && server.monitor("zk_watch_count") == 0; }));
}

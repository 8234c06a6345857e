// InterProcessMutex when an operator deletes its nodes.
#include "support/catch.hpp"
#include "support/frame_proxy.hpp"
#include "support/lock_fixture.hpp"
#include "support/operations.hpp"

#include <zklock/transaction.hpp>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LockFixture {
  InterProcessMutex mutex{client, path};
};

/// A lock that an operator deletes with its directory, and that another client then holds in a new one. The numbers begin
/// again there, so that of the next node of the old holder's client follows the old holder's own.
struct Replaced : Fixture {
  FrameProxy proxy{server.port()};
  Client other{{.connect_string = proxy.address(), .session_timeout = session_timeout}};
  InterProcessMutex theirs{other, path};
  Lease holder{};
  Lease foreign{};

  /// If the directory is watched, the number of the next node would tell its place.
  void hold(bool watched) {
    if (watched) {  // by a directory that is no container: the server could delete it between these locks
      REQUIRE_FALSE(create(client, path, "", CreateOptions{CreateMode::persistent}.creating_parent_containers()));
      for (int i = 0; i < 2; ++i) REQUIRE(acquire(theirs).is_held());
    }
    holder = acquire(theirs);
    REQUIRE_FALSE(sync(other.session()));
    REQUIRE(server.monitor("zk_watch_count") == (watched ? 1 : 0));
  }
  void replace(bool watched) {
    const Transaction everything = Transaction{}.remove(holder.node_path()).remove(path);
    REQUIRE_FALSE(std::get<0>(outcome_of_operation<TransactionResults>(
        [&](auto token) { session.async_commit(everything, std::move(token)); })));
    foreign = acquire(mutex);
    for (const char* name : {"/a", "/b"})  // each takes a number
      if (watched)
        REQUIRE_FALSE(std::get<0>(outcome_of_operation<CreateResult>(
            [&](auto token) { session.async_create(path + name, "", CreateMode::ephemeral, std::move(token)); })));
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a waiter whose node an operator deletes goes to the end of the wait queue", "[faults]") {
  Lease holder = acquire(mutex);
  const Client other = make_client(server);
  const InterProcessMutex theirs{other, path};
  Pending<Lease> second;
  theirs.async_acquire(second.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  Pending<Lease> third;
  mutex.async_acquire(third.handler());
  REQUIRE(eventually([&] { return queue_length() == 3 && server.monitor("zk_watch_count") == 2; }));
  const auto line = std::get<1>(outcome_of_operation<std::vector<LockParticipant>>(
      [&](auto token) { mutex.async_participants(std::move(token)); }));
  outcome_of_operation<>([&](auto token) { session.async_remove(line.at(2).node_path, std::move(token)); });
  holder = Lease{};
  std::get<1>(second.get()) = Lease{};
  const auto [error, lease] = third.get();
  CHECK_FALSE(error);
  CHECK(lease.is_held());
  CHECK(lease.node_path() != line.at(2).node_path);
}

TEST_CASE_METHOD(Fixture,
                 "a waiter deleted with its directory enqueues again when its client makes a node with the same number",
                 "[faults]") {
  const Lease holder = acquire(mutex);
  Pending<Lease> waiter;
  mutex.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  Transaction everything;
  for (const std::string& name : children_of(session, path)) everything.remove(path + "/" + name);
  REQUIRE_FALSE(std::get<0>(outcome_of_operation<TransactionResults>(
      [&](auto token) { session.async_commit(everything.remove(path), std::move(token)); })));
  Pending<Lease> next;  // by it the client learns that the directory is gone
  mutex.async_acquire(next.handler());
  REQUIRE(eventually([&] { return waiter.ready() || next.ready(); }));
  if (waiter.ready()) CHECK(std::get<1>(waiter.get()).is_held());
  CHECK(std::get<1>(next.get()).is_held());
  if (waiter.completions() == 0) CHECK(std::get<1>(waiter.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "a waiter whose node an operator deletes loses the lock, at the latest when it gets it",
                 "[faults]") {
  Lease holder = acquire(mutex);
  Pending<Lease> first;
  const Client other = make_client(server);
  const InterProcessMutex theirs{other, path};
  const bool all = GENERATE(false, true);
  SECTION("the node of another client") {
    theirs.async_acquire(first.handler());
    REQUIRE(eventually([&] { return queue_length() == 2 && server.monitor("zk_watch_count") == 1; }));
  }
  SECTION("the node of a local waiter") {
    mutex.async_acquire(first.handler());
    REQUIRE(eventually([&] { return queue_length() == 2; }));
  }
  const auto look = outcome_of_operation<std::vector<LockParticipant>>(
      [&](auto token) { mutex.async_participants(std::move(token)); });
  REQUIRE_FALSE(std::get<0>(look));
  const std::vector<LockParticipant>& line = std::get<1>(look);
  if (all) {
    const Transaction everything = Transaction{}.remove(line.at(0).node_path).remove(line.at(1).node_path).remove(path);
    CHECK_FALSE(std::get<0>(outcome_of_operation<TransactionResults>(
        [&](auto token) { session.async_commit(everything, std::move(token)); })));
  } else {
    REQUIRE_FALSE(std::get<0>(
        outcome_of_operation<>([&](auto token) { session.async_remove(line.at(1).node_path, std::move(token)); })));
  }
  holder = Lease{};
  Lease taken = std::get<1>(first.get());
  CHECK(eventually([&] { return taken.state() == LeaseState::lost; }));
  taken = Lease{};
  CHECK(acquire(theirs).is_held());
}

TEST_CASE_METHOD(Fixture,
                 "a local waiter whose node an operator deleted has lost the lock before its successor gets it",
                 "[faults]") {
  Lease holder = acquire(mutex);
  Pending<Lease> local_waiter;
  mutex.async_acquire(local_waiter.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  const Client other = make_client(server);
  const InterProcessMutex theirs{other, path};
  Pending<Lease> foreign;
  theirs.async_acquire(foreign.handler());
  REQUIRE(eventually([&] { return queue_length() == 3 && server.monitor("zk_watch_count") == 1; }));
  const auto line = std::get<1>(outcome_of_operation<std::vector<LockParticipant>>(
      [&](auto token) { mutex.async_participants(std::move(token)); }));
  outcome_of_operation<>([&](auto token) { session.async_remove(line.at(1).node_path, std::move(token)); });
  SECTION("the release is not awaited") { holder = Lease{}; }
  SECTION("the release is awaited") {
    CHECK_FALSE(std::get<0>(outcome_of_operation<>([&](auto token) { holder.async_release(std::move(token)); })));
  }
  const Lease taken = std::get<1>(local_waiter.get());
  CHECK(std::get<1>(foreign.get()).is_held());
  CHECK(taken.state() == LeaseState::lost);
}

TEST_CASE_METHOD(Replaced, "a lock that an operator deleted with its directory is not handed off beside its new holder",
                 "[faults]") {
  const bool watched = GENERATE(false, true);
  hold(watched);
  replace(watched);
  if (watched) CHECK(eventually([&] { return holder.state() == LeaseState::lost; }));
  Pending<Lease> local_waiter;
  theirs.async_acquire(local_waiter.handler());
  REQUIRE(eventually([&] { return queue_length() == (watched ? 4 : 2); }));
  holder = Lease{};
  CHECK_FALSE(local_waiter.ready(100ms));
  CHECK(foreign.is_held());
  foreign = Lease{};
  CHECK(std::get<1>(local_waiter.get()).is_held());
}

TEST_CASE_METHOD(Replaced,
                 "a lock that an operator deleted with its directory is not handed off to a node being created",
                 "[faults]") {
  const bool watched = GENERATE(false, true);
  const bool replaced = GENERATE(true, false);
  hold(watched);
  proxy.hold(Direction::replies);  // the event, too
  if (replaced) replace(watched);
  const std::size_t before = queue_length();
  Pending<Lease> local_waiter;
  theirs.async_acquire(local_waiter.handler());
  REQUIRE(eventually([&] { return queue_length() == before + 1; }));
  const bool awaited = GENERATE(true, false);
  Pending<> released;
  if (awaited)
    holder.async_release(released.handler());
  else
    holder = Lease{};
  REQUIRE(eventually([&] { return proxy.requests(Opcode::remove) == (watched ? 3 : 1); }));
  CHECK_FALSE(local_waiter.ready());
  proxy.resume(Direction::replies);
  if (awaited) CHECK(std::get<0>(released.get()) == (replaced ? make_error_code(LockError::lock_lost) : error_code{}));
  if (replaced) {
    CHECK_FALSE(local_waiter.ready(100ms));
    CHECK(foreign.is_held());
    foreign = Lease{};
  }
  CHECK(std::get<1>(local_waiter.get()).is_held());
}

TEST_CASE_METHOD(Replaced,
                 "waiters of a lock that an operator deletes with its directory enqueue behind its new holder",
                 "[faults]") {
  hold(true);
  std::vector<Pending<Lease>> waiters(3);
  for (auto& each : waiters) theirs.async_acquire(each.handler());
  REQUIRE(eventually([&] { return queue_length() == 4; }));
  Transaction everything;
  for (const std::string& name : children_of(session, path)) everything.remove(path + "/" + name);
  everything.remove(path).create(path, "").create(path + "/-lock-0000000000", "");  // another client's
  REQUIRE_FALSE(std::get<0>(outcome_of_operation<TransactionResults>(
      [&](auto token) { session.async_commit(everything, std::move(token)); })));
  CHECK(eventually([&] { return holder.state() == LeaseState::lost; }));
  CHECK(eventually([&] { return queue_length() == 4; }));
  for (auto& each : waiters) CHECK_FALSE(each.ready());
  holder = Lease{};
  for (auto& each : waiters) CHECK_FALSE(each.ready(20ms));
  delete_node(path + "/-lock-0000000000");
  CHECK(eventually([&] {  // they have enqueued anew, in any order
    std::erase_if(waiters, [](auto& each) { return each.ready() && std::get<1>(each.get()).is_held(); });
    return waiters.empty();
  }));
}

TEST_CASE_METHOD(Fixture, "a holder that is told that its node is gone does not keep local waiters waiting",
                 "[faults]") {
  Lease holder = acquire(mutex);
  Pending<> lost;
  holder.async_wait_lost(lost.handler());
  Pending<Lease> local_waiter;
  mutex.async_acquire(local_waiter.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  const Client operating = make_client(server);
  REQUIRE_FALSE(std::get<0>(outcome_of_operation<>(
      [&](auto token) { connected_session(operating).async_remove(holder.node_path(), std::move(token)); })));
  CHECK(std::get<1>(local_waiter.get()).is_held());
  CHECK_FALSE(std::get<0>(lost.get()));
}

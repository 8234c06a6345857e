// The findings of `zklock doctor`.
#include "support/beside_program.hpp"
#include "support/catch.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

using namespace zklock;
using namespace zklock::test;

TEST_CASE_METHOD(BesideProgram,
                 "zklock doctor finds no problem where there is none, and names a path that is missing") {
  const ProgramOutcome missing = doctor();
  CHECK(missing.status == exit_status::unavailable);
  CHECK(missing.errors.find("there is no node " + path) != std::string::npos);
  const InterProcessMutex mutex{client, path};
  const Lease lease = acquire(mutex);
  const ProgramOutcome fine = doctor({"--wait", "10ms"});
  CHECK(fine.status == 0);
  CHECK(fine.output == "1 lock in use, 1 node in wait queues: 0 problems, 0 notes\n");
}

TEST_CASE_METHOD(BesideProgram, "zklock doctor finds two clients that wait for each other") {
  const Client other = make_client(server);
  const InterProcessMutex left{client, path + "/left"};
  const InterProcessReadWriteLock right{other, path + "/deep/right"};
  const Lease of_left = acquire(left);
  const Lease of_right = acquire(right.read_lock());
  const InterProcessReadWriteLock right_here{client, path + "/deep/right"};
  const InterProcessMutex left_there{other, path + "/left"};
  asio::cancellation_signal give_up;
  Pending<Lease> wants_right;
  Pending<Lease> wants_left;
  right_here.write_lock().async_acquire(wants_right.handler());
  REQUIRE(eventually([&] { return children_of(session, path + "/deep/right").size() == 2; }));
  CHECK(doctor().status == 0);  // one client waits for the other: nothing wrong yet
  left_there.async_acquire(asio::bind_cancellation_slot(give_up.slot(), wants_left.handler()));
  REQUIRE(eventually([&] { return children_of(session, path + "/left").size() == 2; }));

  const ProgramOutcome outcome = doctor();
  CHECK(outcome.status == exit_status::found);
  CHECK(outcome.says("problem: deadlock: "));
  CHECK(outcome.says("2 clients wait for each other"));
  for (const auto& name : {client.client_id(), other.client_id(), of_left.node_path(), of_right.node_path()})
    CHECK(outcome.says(name));
  CHECK(outcome.says("2 locks in use, 4 nodes in wait queues: 1 problem, 0 notes"));
  const ProgramOutcome json = doctor({"--wait", "1ms", "--stuck-after", "0", "--json"});
  CHECK(json.status == exit_status::found);
  CHECK(
      json.output.starts_with(R"({"locks":2,"nodes":4,"findings":[{"severity":"problem","kind":"deadlock","node":"/)"));
  CHECK(json.says(R"("kind":"stuck")"));

  give_up.emit(asio::cancellation_type::terminal);
  CHECK(std::get<0>(wants_left.get()) == asio::error::operation_aborted);
  CHECK(eventually([&] { return doctor().status == 0; }));
}

TEST_CASE_METHOD(BesideProgram,
                 "zklock doctor finds a wait queue that does not move, and says since when its holder has the lock") {
  const InterProcessMutex mutex{client, path};
  const Lease lease = acquire(mutex);
  CHECK(doctor({"--wait", "10ms"}).status == 0);
  Pending<Lease> next;
  mutex.async_acquire(next.handler());
  REQUIRE(queue_length(2));
  CHECK(doctor({"--wait", "10ms"}).status == 0);  // the waiter has not waited for long
  const ProgramOutcome outcome = doctor({"--wait", "50ms", "--stuck-after", "0"});
  CHECK(outcome.status == exit_status::found);
  CHECK(outcome.says("problem: stuck: " + lease.node_path()));
  CHECK(outcome.says("1 waiter behind it, the next for "));
  CHECK(outcome.says(", and nothing has moved for 50ms: held by " + client.client_id() + " (session 0x"));
  CHECK(outcome.says("1 time, in the wait queue since 20"));
  CHECK(outcome.says("zklock revoke " + lease.node_path()));
  CHECK(doctor().status == 0);  // one look cannot see whether anything moves
}

TEST_CASE_METHOD(BesideProgram, "zklock doctor counts the readers behind a writer, more than it reads at once") {
  make("_c_a-__READ__0000000000", CreateMode::ephemeral);
  make("_c_a-__WRIT__0000000001", CreateMode::ephemeral);
  for (int i = 100; i < 350; ++i) make("_c_a-__READ__0000000" + std::to_string(i), CreateMode::ephemeral);
  const ProgramOutcome outcome = doctor({"--wait", "1ms", "--stuck-after", "0"});
  CHECK(outcome.says("problem: stuck: " + path + "/_c_a-__READ__0000000000"));
  CHECK(outcome.says("251 waiters behind it"));
  CHECK(outcome.says("1 lock in use, 252 nodes in wait queues"));
}

TEST_CASE_METHOD(BesideProgram,
                 "zklock doctor finds nodes that no session's end removes, and names that are no lock's") {
  make("_c_a-lock-0000000003", CreateMode::ephemeral);
  SECTION("a persistent node in the queue") {
    make("_c_b-lock-0000000001", CreateMode::persistent);
    const ProgramOutcome outcome = doctor();
    CHECK(outcome.status == exit_status::found);
    CHECK(outcome.says("problem: persistent-node: " + path + "/_c_b-lock-0000000001"));
    CHECK(outcome.says("2 nodes in wait queues: 1 problem, 0 notes"));
  }
  SECTION("a container in the queue") {
    make("lock-0000000009", CreateMode::container);
    CHECK(doctor().says("problem: persistent-node: " + path + "/lock-0000000009"));
  }
  SECTION("a marker without a number") {
    make("_c_b-lock-abc", CreateMode::ephemeral);
    const ProgramOutcome outcome = doctor();
    CHECK(outcome.status == exit_status::found);
    CHECK(outcome.says("problem: malformed-name: " + path + "/_c_b-lock-abc"));
    CHECK(outcome.says("sorts behind them"));
  }
  SECTION("numbers near the end") {
    make("_c_b-lock-2100000000", CreateMode::ephemeral);
    CHECK(doctor().says("problem: sequence-end: " + path + "/_c_b-lock-2100000000"));
    CHECK(doctor().says("only 46483647 numbers are left"));
    make("_c_c-lock--000000007", CreateMode::ephemeral);
    CHECK(doctor().says("are used up"));
  }
  SECTION("other nodes, which are a note") {
    make("0000", CreateMode::ephemeral);
    make("orders", CreateMode::persistent);
    const ProgramOutcome outcome = doctor();
    CHECK(outcome.status == 0);
    CHECK(
        outcome.says("note: foreign-child: " + path + "/0000\n  it is in no lock's queue; zklock passes it over, but"));
    CHECK(outcome.says("note: foreign-child: " + path +
                       "/orders\n  it is in no lock's queue; zklock passes it over, and"));
    CHECK(outcome.says("0 problems, 2 notes"));
  }
  SECTION("data of another library, which are a note beside zklock's data") {
    make("_c_b-lock-0000000004", CreateMode::ephemeral, "10.0.0.1");
    const ProgramOutcome outcome = doctor();
    CHECK(outcome.status == 0);
    CHECK(outcome.says("note: foreign-data: " + path + "/_c_b-lock-0000000004"));
    CHECK(outcome.says("0 problems, 1 note"));
  }
}

TEST_CASE_METHOD(BesideProgram,
                 "zklock doctor does not take names like clock-tower for locks, and says where it stopped") {
  make("clock-tower/_c_a-lock-0000000000", CreateMode::ephemeral);
  make("clock-tower/bell/_c_a-lock-0000000000", CreateMode::ephemeral, "10.0.0.1");
  CHECK(
      doctor().says("2 locks in use, 2 nodes in wait queues: 0 problems, 1 note"));  // "bell" is in a lock's directory
  CHECK(doctor({"--wait", "0s", "--max-depth", "1"}).says("note: cut-off: " + path + "/clock-tower\n"));
  CHECK(doctor({"--wait", "0s", "--max-depth", "1"}).says("1 lock in use"));
  CHECK(doctor({"--wait", "0s", "--max-nodes", "2"}).says("note: cut-off: " + path + "/clock-tower\n"));
  CHECK(doctor({"--wait", "0s", "--max-nodes", "2"}).says("0 locks in use"));
}

TEST_CASE_METHOD(BesideProgram, "zklock doctor names the waiters for a permit, and a permit that never comes back") {
  InterProcessSemaphore semaphore{client, path, 1};
  Lease permit = semaphore.acquire();
  CHECK(doctor({"--wait", "10ms"}).status == 0);
  SECTION("a wait queue that does not move") {
    Pending<Lease> next;
    semaphore.async_acquire(next.handler());
    REQUIRE(queue_length(3));
    CHECK(doctor({"--wait", "10ms"}).status == 0);
    const ProgramOutcome outcome = doctor({"--wait", "50ms", "--stuck-after", "0"});
    CHECK(outcome.status == exit_status::found);
    CHECK(outcome.says("problem: stuck: " + path + "/locks/"));
    CHECK(outcome.says("and 0 waiters behind it want permits"));
    CHECK(outcome.says("zklock revoke " + path + "\n"));
    permit = Lease{};
    CHECK_FALSE(std::get<0>(next.get()));
  }
  SECTION("a permit that no session's end gives back, whatever its name") {
    make("leases/junk", CreateMode::persistent);
    const ProgramOutcome outcome = doctor();
    CHECK(outcome.status == exit_status::found);
    CHECK(outcome.says("problem: persistent-node: " + path + "/leases/junk\n  it takes a permit"));
    CHECK(outcome.says("1 problem, 0 notes"));
  }
}

TEST_CASE_METHOD(BesideProgram, "zklock doctor does not take a node named release for a permit") {
  make("release-0000000001", CreateMode::persistent);
  make("readme", CreateMode::persistent);
  const ProgramOutcome outcome = doctor();
  CHECK(outcome.status == 0);
  CHECK(outcome.output == "0 locks in use, 0 nodes in wait queues: 0 problems, 0 notes\n");
}

// A lock's directory in states that only an operator, another program or a long time can cause.
#include "support/catch.hpp"
#include "support/frame_proxy.hpp"
#include "support/lock_fixture.hpp"
#include "support/operations.hpp"
#include "support/snapshot.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/lock_node.hpp>

#include <cstdint>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LockFixture {
  Client other = make_client(server);
  InterProcessMutex mutex{client, path};

  Fixture() { REQUIRE_FALSE(create(client, path, "", CreateOptions{CreateMode::persistent}.creating_parents())); }
  void make(const std::string& name) const { REQUIRE_FALSE(create(client, path + "/" + name)); }
  void unmake(const std::string& name) const { REQUIRE_FALSE(remove(client, path + "/" + name)); }
};

std::string number_of(const Lease& lease) {
  const std::string node = lease.node_path();
  return node.substr(node.rfind("lock-") + 5);
}

error_code try_acquire(const InterProcessMutex& mutex) {
  return std::get<0>(outcome_of_operation<Lease>([&](auto token) { mutex.async_acquire(0ms, std::move(token)); }));
}

}  // namespace

// ---- numbers

TEST_CASE_METHOD(Fixture, "of nodes with the same number the one with the smaller name is ahead") {
  const std::string smaller = "_c_00000000-0000-4000-8000-000000000000-lock-0000000003";
  const std::string greater = "_c_ffffffff-ffff-4fff-bfff-ffffffffffff-lock-0000000003";
  for (const std::string& name : {smaller, greater, std::string{"config"}}) make(name);
  Pending<Lease> ours;
  mutex.async_acquire(ours.handler());
  REQUIRE(eventually([&] { return children_of(session, path).size() == 4; }));
  Pending<Lease> next;
  InterProcessMutex{other, path}.async_acquire(next.handler());
  REQUIRE(eventually([&] { return children_of(session, path).size() == 5; }));
  CHECK_FALSE(ours.ready(100ms));
  unmake(smaller);
  Lease lease = std::get<1>(ours.get());
  CHECK(number_of(lease) == "0000000003");
  CHECK(exists(session, path + "/" + greater));
  lease = Lease{};
  CHECK_FALSE(next.ready(100ms));
  unmake(greater);
  CHECK(number_of(std::get<1>(next.get())) == "0000000004");
}

TEST_CASE_METHOD(Fixture,
                 "a node with a negative number is ahead of all others, and the smallest number is the first") {
  const std::string first = "_c_00000000-0000-4000-8000-000000000000-lock--2147483648";
  const std::string second = "_c_00000000-0000-4000-8000-000000000000-lock--000000001";
  make(second);
  make(first);
  Pending<Lease> ours;
  mutex.async_acquire(ours.handler());
  REQUIRE(eventually([&] { return children_of(session, path).size() == 3; }));
  const auto line = std::get<1>(outcome_of_operation<std::vector<LockParticipant>>(
      [&](auto token) { mutex.async_participants(std::move(token)); }));
  REQUIRE(line.size() == 3);
  CHECK(line[0].sequence == INT32_MIN);
  CHECK(line[1].sequence == -1);
  CHECK(line[2].sequence == 2);
  unmake(first);
  CHECK_FALSE(ours.ready(100ms));
  unmake(second);
  CHECK(std::get<1>(ours.get()).is_held());
}

TEST_CASE("an acquire is refused shortly before the sequence numbers run out, and after that") {
  testing::TestServer server{{.container_check = 1h}};
  const Client client = make_client(server);
  const InterProcessMutex mutex{client, "/l"};
  const auto queue_length = [&] { return children_of(connected_session(client), "/l").size(); };
  REQUIRE_FALSE(create(client, "/l"));
  set_next_number(server, "/l", last_safe_sequence);
  {
    const Lease last = acquire(mutex);
    CHECK(number_of(last) == "2146483647");
    CHECK(try_acquire(mutex) == LockError::sequence_exhausted);
    CHECK(last.is_held());
  }
  CHECK(try_acquire(mutex) == LockError::sequence_exhausted);
  CHECK(eventually([&] { return queue_length() == 0; }));

  set_next_number(server, "/l", INT32_MAX);
  for (int i = 0; i < 3; ++i) CHECK(try_acquire(mutex) == LockError::sequence_exhausted);
  const auto [error, made] = create_node(client, "/l/-lock-", "", CreateMode::ephemeral_sequential);
  REQUIRE_FALSE(error);
  CAPTURE(made.path);
  CHECK((made.path.ends_with("-2147483648") || made.path.ends_with("2147483647")));  // depends on the server
  CHECK(try_acquire(mutex) == LockError::sequence_exhausted);
  REQUIRE_FALSE(remove(client, made.path));
  CHECK(eventually([&] { return queue_length() == 0; }));
  REQUIRE_FALSE(remove(client, "/l"));
  CHECK(number_of(acquire(mutex)) == "0000000000");
}

// ---- a deleted directory

TEST_CASE("a directory that is deleted before a node is in it is made again", "[faults]") {
  testing::TestServer server;
  FrameProxy proxy{server.port()};
  const Client client{{.connect_string = proxy.address(), .session_timeout = session_timeout}};
  const Client operating = make_client(server);
  const InterProcessMutex mutex{client, "/orders"};
  static_cast<void>(connected_session(client));
  const int creates = proxy.requests(Opcode::create2);

  proxy.hold(Direction::replies);
  Pending<Lease> acquiring;
  mutex.async_acquire(acquiring.handler());
  REQUIRE(eventually([&] { return proxy.requests(Opcode::get_children2) == 1; }));  // after the node's create
  REQUIRE_FALSE(sync(connected_session(operating)));
  proxy.hold(Direction::requests);
  proxy.resume(Direction::replies);
  REQUIRE(eventually([&] { return proxy.requests(Opcode::create_container) == 1; }));
  proxy.hold(Direction::replies);
  proxy.resume(Direction::requests);
  REQUIRE(eventually([&] { return exists(connected_session(operating), "/orders"); }));
  REQUIRE_FALSE(remove(operating, "/orders"));
  proxy.resume(Direction::replies);

  CHECK(std::get<1>(acquiring.get()).is_held());
  CHECK(proxy.requests(Opcode::create_container) == 2);
  CHECK(proxy.requests(Opcode::create2) == creates + 3);  // without the directory, without it again, and within it
}

TEST_CASE("a waiter whose node was deleted with its directory starts over", "[faults]") {
  testing::TestServer server;
  FrameProxy proxy{server.port()};
  const Client client{{.connect_string = proxy.address(), .session_timeout = session_timeout}};
  const Client operating = make_client(server);
  const Session session = connected_session(operating);
  for (int i = 0; i < 2; ++i)  // two nodes ahead, so that the end of one does not prove the grant
    REQUIRE_FALSE(create(operating, "/orders/-lock-", "",
                         CreateOptions{CreateMode::ephemeral_sequential}.creating_parent_containers()));
  Pending<Lease> waiter;
  InterProcessMutex{client, "/orders"}.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return server.monitor("zk_watch_count") == 1; }));
  proxy.hold(Direction::replies);
  for (const std::string& name : children_of(session, "/orders")) REQUIRE_FALSE(remove(operating, "/orders/" + name));
  REQUIRE(eventually([&] { return !exists(session, "/orders"); }));
  CHECK_FALSE(waiter.ready());
  proxy.resume(Direction::replies);
  const Lease lease = std::get<1>(waiter.get());
  CHECK(lease.is_held());
  CHECK(number_of(lease) == "0000000000");
}

TEST_CASE("a node whose number follows that of its client's last one waits in a directory that was made anew",
          "[faults]") {
  testing::TestServer server{{.container_check = 1h}};
  FrameProxy proxy{server.port()};
  const Client client{{.connect_string = proxy.address(), .session_timeout = session_timeout}};
  const Client other = make_client(server);
  const Session session = connected_session(other);
  const InterProcessMutex mutex{client, "/orders"};
  for (int i = 0; i < 4; ++i) static_cast<void>(acquire(mutex));  // numbers 0 to 3, the last by its number alone
  REQUIRE(eventually([&] { return children_of(session, "/orders").empty(); }));
  REQUIRE(server.monitor("zk_watch_count") == 1);
  const int lists = proxy.requests(Opcode::get_children2);
  proxy.hold(Direction::replies);
  REQUIRE_FALSE(remove(other, "/orders"));
  Lease foreign = acquire(InterProcessMutex{other, "/orders"});
  for (int i = 1; i < 4; ++i)
    REQUIRE_FALSE(create(other, "/orders/other-", "", CreateOptions{CreateMode::ephemeral_sequential}));
  Pending<Lease> next;
  mutex.async_acquire(next.handler());
  REQUIRE(eventually([&] { return children_of(session, "/orders").size() == 5; }));
  CHECK(proxy.requests(Opcode::get_children2) == lists);
  proxy.resume(Direction::replies);
  CHECK_FALSE(next.ready(100ms));
  foreign = Lease{};
  CHECK(number_of(std::get<1>(next.get())) == "0000000004");
}

TEST_CASE("a container that never had a child stays, unless the server has a limit for that") {
  const bool told = GENERATE(false, true);
  testing::TestServerOptions options;
  if (told) options.jvm_options = {"-Dznode.container.maxNeverUsedIntervalMs=200"};
  const testing::TestServer server{options};
  const Client client = make_client(server);
  REQUIRE_FALSE(create(client, "/l", "", CreateMode::container));
  CHECK(eventually([&] { return !exists(connected_session(client), "/l"); }, told ? 10s : 1s) == told);
}

// ---- permissions

TEST_CASE("a client that may enqueue and not list the wait queue gets an error, and dequeues") {
  testing::TestServer server;
  const Client client = make_client(server);
  const Client owner{{.connect_string = server.connect_string(), .auth = {{"digest", "ann:secret"}}}};
  const Acl blind{{Permission::create | Permission::remove, "world", "anyone"}, {Permission::all, "auth", ""}};
  REQUIRE_FALSE(create(owner, "/l", "", NodeOptions{CreateMode::persistent, blind}));
  CHECK(try_acquire(InterProcessMutex{client, "/l"}) == Error::no_auth);
  const Client reader = make_client(server);  // a client has only one kind of lock on a path
  CHECK(try_acquire(InterProcessReadWriteLock{reader, "/l"}.read_lock()) == Error::no_auth);
  CHECK(eventually([&] { return children_of(connected_session(owner), "/l").empty(); }));
  CHECK(acquire(InterProcessMutex{owner, "/l"}).is_held());
}

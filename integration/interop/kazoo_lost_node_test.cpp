// What Kazoo's locks under Curator's names do when the node by which they wait is lost.
#include "peer.hpp"
#include "support/catch.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <algorithm>
#include <sstream>

using namespace zklock;
using namespace zklock::test;

namespace {

/// A writer of zklock holds the lock, and Kazoo waits behind it.
struct Fixture {
  testing::TestServer server;
  Kazoo kazoo{server};
  Client client = make_client(server);
  Session session = connected_session(client);
  const std::string path = "/locks/orders";
  const InterProcessReadWriteLock lock{client, path};
  Lease first;
  const std::string kind = GENERATE("curator-read", "curator-write");
  std::string node_of_kazoo;

  Fixture() { REQUIRE_FALSE(create(client, path, "", CreateOptions{CreateMode::persistent}.creating_parents())); }

  void let_kazoo_wait() {
    first = acquire(lock.write_lock());
    const auto watches = server.monitor("zk_watch_count");
    kazoo.begin("acquire " + kind + " " + path + " 60000");
    REQUIRE(eventually([&] { return server.monitor("zk_watch_count") == watches + 1; }));
    for (const std::string& name : children_of(session, path))
      if (!first.node_path().ends_with(name)) node_of_kazoo = path + "/" + name;
  }
  [[nodiscard]] bool is_enqueued(std::size_t number) const {
    return eventually([&] { return children_of(session, path).size() == number; });
  }
  /// Kazoo's node is gone, and a second writer of zklock has come after it: that writer is next.
  void check_that_it_starts_over() {
    REQUIRE(eventually([&] { return !exists(session, node_of_kazoo); }));
    Pending<Lease> second;
    lock.write_lock().async_acquire(second.handler());
    REQUIRE(eventually([&] { return is_another_of_ours_behind(first); }));
    first = Lease{};
    Lease writing = std::get<1>(second.get());
    REQUIRE(writing.is_held());
    CHECK(is_enqueued(2));  // Kazoo has a new node
    CHECK_FALSE(kazoo.has_answered());
    writing = Lease{};
    CHECK(kazoo.outcome() == "yes");
    CHECK(is_enqueued(1));
    CHECK(try_acquire(lock.write_lock()) == Error::timed_out);
    CHECK(kazoo("release " + kind + " " + path) == "yes");
    CHECK(is_enqueued(0));
  }
  /// Whether another node of the same zklock client is in the queue.
  [[nodiscard]] bool is_another_of_ours_behind(const Lease& lease) const {
    const auto [error, line] = outcome_of_operation<std::vector<LockParticipant>>(
        [&](auto token) { lock.write_lock().async_participants(std::move(token)); });
    return !error && std::ranges::any_of(line, [&](const LockParticipant& one) {
      return one.client_id == client.client_id() && one.node_path != lease.node_path();
    });
  }
};

/// "ab01" as its bytes.
std::string from_hexadecimal(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "Kazoo under Curator's names starts over when its node is deleted while it waits") {
  let_kazoo_wait();
  REQUIRE_FALSE(remove(client, node_of_kazoo));
  check_that_it_starts_over();
}

TEST_CASE_METHOD(Fixture, "Kazoo under Curator's names starts over when its session ends while it waits") {
  std::int64_t id = 0;
  std::string password;
  std::istringstream{kazoo("session")} >> id >> password;
  REQUIRE(kazoo("wake_in_next_session " + kind + " " + path) == "yes");
  let_kazoo_wait();
  server.end_session(id, from_hexadecimal(password));
  check_that_it_starts_over();
}

// What the program shows of many locks, of other libraries' locks, and of odd names.
#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/program_setup.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>

#include <iterator>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture {
  testing::TestServer& server = shared_server();
  Client client = make_client(server);
  Session session = connected_session(client);
  std::string path = fresh_path();

  [[nodiscard]] ProgramOutcome zklock(std::vector<std::string> words) const {
    Program program{std::move(words), {"ZKLOCK_CONNECT=" + server.connect_string()}};
    return outcome_of(program);
  }
  [[nodiscard]] bool is_enqueued(const std::string& directory, std::size_t number) const {
    return eventually([&] { return children_of(session, directory).size() == number; });
  }
  /// The table's rows, each in its words.
  static std::vector<std::vector<std::string>> rows(const ProgramOutcome& outcome) {
    std::istringstream table{outcome.output};
    std::vector<std::vector<std::string>> result;
    for (std::string row; std::getline(table, row);) {
      std::istringstream text{row};
      result.emplace_back(std::istream_iterator<std::string>{text}, std::istream_iterator<std::string>{});
    }
    return result;
  }
  void make(const std::string& node, CreateMode mode, const std::string& data) const {
    REQUIRE_FALSE(create(client, node, data, CreateOptions{mode}.creating_parents()));
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "zklock ls of a node above several locks shows a line for each lock") {
  const InterProcessMutex mutex{client, path + "/nightly"};
  const InterProcessReadWriteLock prices{client, path + "/deep/prices"};
  const InterProcessMutex kazoos{client, path + "/kazoos", LockNaming::kazoo};
  InterProcessSemaphore licences{client, path + "/licences", 2};
  Lease alone = acquire(mutex);
  const Lease one = acquire(prices.read_lock());
  const Lease two = acquire(prices.read_lock());
  const Lease theirs = acquire(kazoos);
  const auto permits = licences.acquire_many(2);
  Pending<Lease> next;
  Pending<Lease> writer;
  Pending<Lease> permit;
  mutex.async_acquire(next.handler());
  prices.write_lock().async_acquire(writer.handler());
  licences.async_acquire(permit.handler());
  REQUIRE(is_enqueued(path + "/nightly", 2));
  REQUIRE(is_enqueued(path + "/deep/prices", 3));
  REQUIRE(is_enqueued(path + "/licences/leases", 3));
  const ProgramOutcome outcome = zklock({"ls", path});
  CHECK(outcome.status == 0);
  const auto table = rows(outcome);
  REQUIRE(table.size() == 5);
  CHECK(table[0] == std::vector<std::string>{"LOCK", "KIND", "HOLDERS", "WAITING", "AGE", "HOLDER"});
  const auto row_is = [&](std::size_t row, const std::string& name, const std::string& kind, const std::string& holders,
                          const std::string& waiting) {
    return table[row][0] == path + name && table[row][1] == kind && table[row][2] == holders &&
           table[row][3] == waiting && table[row][5] == client.client_id();
  };
  CHECK(row_is(1, "/deep/prices", "read-write", "2", "1"));
  CHECK(row_is(2, "/kazoos", "kazoo", "1", "0"));
  CHECK(row_is(3, "/licences", "semaphore", "2", "1"));
  CHECK(row_is(4, "/nightly", "mutex", "1", "1"));
  CHECK(zklock({"ls", path, "--json"})
            .says(R"({"path":")" + path + R"(/nightly","kind":"mutex","holders":1,"waiting":1,"holder":")" +
                  client.client_id() + R"(","age_ms":)"));
  CHECK(zklock({"ls", path + "/nightly"}).output.starts_with("POSITION"));
}

TEST_CASE_METHOD(Fixture,
                 "zklock ls says that there is no node, that there is no lock, or how many permits a node keeps") {
  const ProgramOutcome missing = zklock({"ls", path});
  CHECK(missing.status == 0);
  CHECK(missing.complains("there is no node " + path));
  make(path, CreateMode::persistent, "mine");  // four bytes, and the node has a child
  make(path + "/settings", CreateMode::persistent, "on");
  const ProgramOutcome nothing = zklock({"ls", path, "--json"});
  CHECK(nothing.output == "[]\n");
  CHECK(nothing.complains("nobody holds or waits for a lock at " + path + ", or below"));
  const InterProcessSemaphore beds{client, path + "/beds", SharedPermits{path + "/number", 300}};
  Pending<Lease> permit;
  beds.async_acquire(permit.handler());
  CHECK_FALSE(std::get<0>(permit.get()));
  CHECK(zklock({"ls", path + "/number"}).output == path + "/number keeps a number of permits: 300\n");
  CHECK(zklock({"ls", path + "/number", "--json"}).output ==
        R"([{"path":")" + path + R"(/number","kind":"shared-permits","permits":300}])" + "\n");
}

TEST_CASE_METHOD(Fixture, "zklock ls and revoke know the holder of a lock under Kazoo's names") {
  const InterProcessReadWriteLock lock{client, path, LockNaming::kazoo};
  Lease reading = acquire(lock.read_lock());
  Pending<Lease> writing;
  lock.write_lock().async_acquire(writing.handler());
  REQUIRE(is_enqueued(path, 2));
  const auto table = rows(zklock({"ls", path}));
  REQUIRE(table.size() == 3);
  CHECK(table[1][1] == "holder");
  CHECK(table[2][1] == "waiting");
  Pending<> asked;
  reading.async_wait_revocation(asked.handler());
  CHECK(zklock({"revoke", path}).says("to give back " + reading.node_path() + "\n"));
  CHECK_FALSE(std::get<0>(asked.get()));
  CHECK(zklock({"revoke", reading.node_path()}).says("to give back " + reading.node_path() + "\n"));
}

TEST_CASE_METHOD(Fixture, "zklock doctor finds a deadlock, a stuck queue and mixed locks under Kazoo's names") {
  const Client other = make_client(server);
  const InterProcessMutex mutex{client, path + "/a", LockNaming::kazoo};
  const InterProcessMutex theirs{other, path + "/b", LockNaming::kazoo};
  const Lease held = acquire(mutex);
  const Lease held_by_other = acquire(theirs);
  Pending<Lease> waiting;
  InterProcessMutex{other, path + "/a", LockNaming::kazoo}.async_acquire(waiting.handler());
  REQUIRE(is_enqueued(path + "/a", 2));
  CHECK(zklock({"doctor", path, "--wait", "10ms"}).status == 0);
  CHECK(zklock({"doctor", path, "--wait", "10ms", "--stuck-after", "0"}).says("problem: stuck: " + path + "/a"));
  Pending<Lease> circle;
  InterProcessMutex{client, path + "/b", LockNaming::kazoo}.async_acquire(circle.handler());
  REQUIRE(is_enqueued(path + "/b", 2));
  CHECK(zklock({"doctor", path, "--wait", "0"}).says("problem: deadlock: "));
  const InterProcessMutex mixed{client, path + "/a"};
  const Lease another = acquire(mixed);
  CHECK(zklock({"doctor", path, "--wait", "0"}).says("problem: mixed-locks: " + path + "/a\n"));
}

TEST_CASE_METHOD(Fixture, "the program prints no name raw that would not display as itself") {
  const std::string odd = "a\xE2\x80\xAEtxt";
  const std::string raw = "\xE2\x80\xAE";
  const InterProcessMutex mutex{client, path + "/" + odd};
  const Lease lease = acquire(mutex);
  make(path + "/" + odd + "/" + odd, CreateMode::persistent, "");
  for (const auto& words : std::vector<std::vector<std::string>>{{"ls", path},
                                                                 {"ls", path, "--json"},
                                                                 {"ls", path + "/" + odd},
                                                                 {"ls", path + "/" + odd + "/no"},
                                                                 {"doctor", path},
                                                                 {"doctor", path, "--json"},
                                                                 {"doctor", path + "/no" + odd},
                                                                 {"revoke", path + "/" + odd},
                                                                 {"revoke", path + "/no" + odd}}) {
    INFO(words[0] << " " << words[1]);
    const ProgramOutcome outcome = zklock(words);
    CHECK_FALSE(outcome.says(raw));
    CHECK_FALSE(outcome.complains(raw));
  }
  CHECK(zklock({"ls", path}).says("/a\\u{202E}txt"));
  CHECK(zklock({"ls", path, "--json"}).says("/a\\u202etxt"));
  CHECK(zklock({"doctor", path, "--wait", "0"}).says("/a\\u{202E}txt/a\\u{202E}txt\n"));
}

TEST_CASE_METHOD(Fixture, "zklock doctor finds locks on one path that do not exclude each other") {
  const Client other = make_client(server);
  const InterProcessMutex mutex{client, path};
  const InterProcessReadWriteLock lock{other, path};
  const Lease first = acquire(mutex);
  CHECK(zklock({"doctor", path, "--wait", "0"}).status == 0);
  const Lease second = acquire(lock.write_lock());
  const ProgramOutcome outcome = zklock({"doctor", path, "--wait", "0"});
  CHECK(outcome.status == exit_status::found);
  CHECK(outcome.says("problem: mixed-locks: " + path + "\n"));
  CHECK(outcome.says("mutex held by " + client.client_id()));
  CHECK(outcome.says("write held by " + other.client_id()));
}

TEST_CASE_METHOD(Fixture,
                 "zklock doctor finds a mutex and a semaphore on one path, and has nobody delete its permits") {
  InterProcessSemaphore semaphore{client, path, 2};
  const Lease permit = semaphore.acquire();
  CHECK(zklock({"doctor", path, "--wait", "0"}).status == 0);
  const Client other = make_client(server);
  const Lease second = acquire(InterProcessMutex{other, path});
  const ProgramOutcome outcome = zklock({"doctor", path, "--wait", "0"});
  CHECK(outcome.status == exit_status::found);
  CHECK(outcome.says("problem: mixed-locks: " + path + "\n"));
  CHECK(outcome.says("a semaphore, whose permits are below " + path + "/leases"));
  CHECK_FALSE(outcome.says("foreign-child"));
  CHECK(permit.is_held());
}

TEST_CASE_METHOD(Fixture, "zklock doctor counts all waiters, but only those that have waited for long") {
  const InterProcessReadWriteLock lock{client, path};
  const Lease reading = acquire(lock.read_lock());
  Pending<Lease> writer;
  Pending<Lease> readers[2];
  lock.write_lock().async_acquire(writer.handler());
  REQUIRE(is_enqueued(path, 2));
  for (auto& reader : readers) lock.read_lock().async_acquire(reader.handler());
  REQUIRE(is_enqueued(path, 4));
  CHECK(zklock({"doctor", path, "--wait", "10ms"}).status == 0);
  const ProgramOutcome outcome = zklock({"doctor", path, "--wait", "10ms", "--stuck-after", "0"});
  CHECK(outcome.status == exit_status::found);
  CHECK(outcome.says("3 waiters behind it, the next for "));
}

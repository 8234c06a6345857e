// The command-line program with locks of all kinds: looking at them, asking for them, and what is wrong with them.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/program.hpp"

#include <zklock/recipes/inter_process_read_write_lock.hpp>
#include <zklock/recipes/inter_process_semaphore.hpp>
#include <zklock/recipes/revocation.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <iterator>
#include <sstream>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr int found = 1;
constexpr int unavailable = 69;

struct Outcome {
  int status = 0;
  std::string output;
  std::string errors;

  [[nodiscard]] bool says(const std::string& text) const { return output.find(text) != std::string::npos; }
};

struct Fixture {
  testing::TestServer& server = shared_server();
  Client client = make_client(server);
  Session session = connected_session(client);
  std::string path = fresh_path();

  [[nodiscard]] std::vector<std::string> environment() const { return {"ZKLOCK_CONNECT=" + server.connect_string()}; }
  [[nodiscard]] Outcome zklock(std::vector<std::string> words) const {
    Program program{std::move(words), environment()};
    Outcome outcome;
    outcome.output = program.rest();
    outcome.errors = program.errors();
    outcome.status = program.wait();
    return outcome;
  }
  /// `zklock run` with a command that says its process id, and stays until its input ends.
  [[nodiscard]] Program run(std::vector<std::string> options, const std::string& before = "") const {
    options.insert(options.begin(), {"run", path});
    options.insert(options.end(), {"--", "sh", "-c", before + "echo $$; read line; exit 0"});
    return Program{std::move(options), environment()};
  }
  /// The rows of `zklock ls`, each in its words.
  [[nodiscard]] std::vector<std::vector<std::string>> rows() const {
    std::istringstream table{zklock({"ls", path}).output};
    std::vector<std::vector<std::string>> result;
    for (std::string row; std::getline(table, row);) {
      std::istringstream text{row};
      result.emplace_back(std::istream_iterator<std::string>{text}, std::istream_iterator<std::string>{});
    }
    return result;
  }
  [[nodiscard]] bool in_line(std::size_t count) const {
    return eventually([&] { return rows().size() == 1 + count; });
  }
  [[nodiscard]] Outcome doctor(std::vector<std::string> more = {"--wait", "0s"}) const {
    more.insert(more.begin(), {"doctor", path});
    return zklock(std::move(more));
  }
  /// Below the lock's path, with the path itself where that is missing.
  void make(const std::string& name, CreateMode mode, const std::string& data = "me:1") const {
    const auto [error, node] = outcome_of_operation<CreateResult>([&](auto token) {
      client.async_create(path + "/" + name, data, CreateOptions{mode}.creating_parent_containers(), std::move(token));
    });
    REQUIRE_FALSE(error);
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture,
                 "zklock doctor finds nothing wrong where nothing is wrong, and names a path that is missing") {
  const Outcome missing = doctor();
  CHECK(missing.status == unavailable);
  CHECK(missing.errors.find("there is no node " + path) != std::string::npos);
  const InterProcessMutex mutex{client, path};
  const Lease lease = acquire(mutex);
  const Outcome fine = doctor({"--wait", "10ms"});
  CHECK(fine.status == 0);
  CHECK(fine.output == "1 lock in use, 1 node in line: 0 problems, 0 notes\n");
}

TEST_CASE_METHOD(Fixture, "zklock doctor finds two clients that wait for each other") {
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
  CHECK(doctor().status == 0);  // one waits for the other: nothing wrong yet
  left_there.async_acquire(asio::bind_cancellation_slot(give_up.slot(), wants_left.handler()));
  REQUIRE(eventually([&] { return children_of(session, path + "/left").size() == 2; }));

  const Outcome outcome = doctor();
  CHECK(outcome.status == found);
  CHECK(outcome.says("problem: deadlock: "));
  CHECK(outcome.says("2 clients wait for each other"));
  for (const auto& name : {client.client_id(), other.client_id(), of_left.node_path(), of_right.node_path()})
    CHECK(outcome.says(name));
  CHECK(outcome.says("2 locks in use, 4 nodes in line: 1 problem, 0 notes"));
  const Outcome json = doctor({"--wait", "1ms", "--json"});
  CHECK(json.status == found);
  CHECK(
      json.output.starts_with(R"({"locks":2,"nodes":4,"findings":[{"severity":"problem","kind":"deadlock","node":"/)"));
  CHECK(json.says(R"("kind":"stuck")"));

  give_up.emit(asio::cancellation_type::terminal);
  CHECK(std::get<0>(wants_left.get()) == asio::error::operation_aborted);
  CHECK(eventually([&] { return doctor().status == 0; }));
}

TEST_CASE_METHOD(Fixture, "zklock doctor finds a line that does not move, and says who holds it since when") {
  const InterProcessMutex mutex{client, path};
  const Lease lease = acquire(mutex);
  CHECK(doctor({"--wait", "10ms"}).status == 0);
  Pending<Lease> next;
  mutex.async_acquire(next.handler());
  REQUIRE(in_line(2));
  const Outcome outcome = doctor({"--wait", "50ms"});
  CHECK(outcome.status == found);
  CHECK(outcome.says("problem: stuck: " + lease.node_path()));
  CHECK(outcome.says("1 waiter behind it, and nothing has moved for 50ms: held by " + client.client_id() +
                     " (session 0x"));
  CHECK(outcome.says("1 time, in line since 20"));
  CHECK(outcome.says("zklock revoke " + lease.node_path()));
  CHECK(doctor().status == 0);  // one look sees nothing move, or stand still
}

TEST_CASE_METHOD(Fixture, "zklock doctor finds nodes that nobody's end removes, and names that are no lock's") {
  make("_c_a-lock-0000000003", CreateMode::ephemeral);
  SECTION("a persistent node in line") {
    make("_c_b-lock-0000000001", CreateMode::persistent);
    const Outcome outcome = doctor();
    CHECK(outcome.status == found);
    CHECK(outcome.says("problem: persistent-node: " + path + "/_c_b-lock-0000000001"));
    CHECK(outcome.says("2 nodes in line: 1 problem, 0 notes"));
  }
  SECTION("a container in line") {
    make("lock-0000000009", CreateMode::container);
    CHECK(doctor().says("problem: persistent-node: " + path + "/lock-0000000009"));
  }
  SECTION("a marker without a number") {
    make("_c_b-lock-abc", CreateMode::ephemeral);
    const Outcome outcome = doctor();
    CHECK(outcome.status == found);
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
    const Outcome outcome = doctor();
    CHECK(outcome.status == 0);
    CHECK(
        outcome.says("note: foreign-child: " + path + "/0000\n  it is in no lock's line; zklock passes it over, but"));
    CHECK(outcome.says("note: foreign-child: " + path +
                       "/orders\n  it is in no lock's line; zklock passes it over, and"));
    CHECK(outcome.says("0 problems, 2 notes"));
  }
  SECTION("data of another make, which are a note where others' are zklock's") {
    make("_c_b-lock-0000000004", CreateMode::ephemeral, "10.0.0.1");
    const Outcome outcome = doctor();
    CHECK(outcome.status == 0);
    CHECK(outcome.says("note: foreign-data: " + path + "/_c_b-lock-0000000004"));
    CHECK(outcome.says("0 problems, 1 note"));
  }
}

TEST_CASE_METHOD(Fixture, "zklock doctor takes names like clock-tower for what they are, and says where it stopped") {
  make("clock-tower/_c_a-lock-0000000000", CreateMode::ephemeral);
  make("clock-tower/bell/_c_a-lock-0000000000", CreateMode::ephemeral, "10.0.0.1");
  CHECK(doctor().says("2 locks in use, 2 nodes in line: 0 problems, 1 note"));  // "bell" is in a lock's directory
  CHECK(doctor({"--wait", "0s", "--max-depth", "1"}).says("note: cut-off: " + path + "/clock-tower\n"));
  CHECK(doctor({"--wait", "0s", "--max-depth", "1"}).says("1 lock in use"));
  CHECK(doctor({"--wait", "0s", "--max-nodes", "2"}).says("note: cut-off: " + path + "/clock-tower\n"));
  CHECK(doctor({"--wait", "0s", "--max-nodes", "2"}).says("0 locks in use"));
}

TEST_CASE_METHOD(Fixture, "zklock ls shows readers and writers, who holds and who waits, and who has been asked") {
  const InterProcessReadWriteLock lock{client, path};
  const Lease one = acquire(lock.read_lock());
  const Lease two = acquire(lock.read_lock());
  Pending<Lease> writer;
  Pending<Lease> reader;
  lock.write_lock().async_acquire(writer.handler());
  REQUIRE(in_line(3));
  lock.read_lock().async_acquire(reader.handler());
  REQUIRE(in_line(4));
  const auto table = rows();
  const std::vector<std::string> header{"POSITION", "STATE", "CLIENT", "COUNT", "SESSION",
                                        "TOKEN",    "AGE",   "KIND",   "NODE"};
  CHECK(table[0] == header);
  const auto row_is = [&](std::size_t row, const std::string& state, const std::string& kind) {
    return table[row][0] == std::to_string(row) && table[row][1] == state && table[row][7] == kind;
  };
  CHECK(row_is(1, "holder", "read"));
  CHECK(row_is(2, "holder", "read"));
  CHECK(row_is(3, "waiting", "write"));
  CHECK(row_is(4, "waiting", "read"));
  CHECK(table[1][2] == client.client_id());

  attempt_revoke(client, two.node_path());
  CHECK(rows()[1][1] == "holder");
  CHECK(rows()[2][1] == "asked");
  CHECK(rows()[2][2] == "-");
  const Outcome json = zklock({"ls", path, "--json"});
  CHECK(json.says(R"("state":"asked","client":null,"count":null)"));
  CHECK(json.says(R"("kind":"write")"));
}

TEST_CASE_METHOD(Fixture, "zklock revoke asks all who hold a lock and nobody else, and waits until they are gone") {
  const InterProcessReadWriteLock lock{client, path};
  CHECK(zklock({"revoke", path}).output == "nobody holds " + path + "\n");
  Lease one = acquire(lock.read_lock());
  Lease two = acquire(lock.read_lock());
  Pending<Lease> writer;
  lock.write_lock().async_acquire(writer.handler());
  REQUIRE(in_line(3));
  Pending<> asked_one;
  Pending<> asked_two;
  one.async_wait_revocation(asked_one.handler());
  two.async_wait_revocation(asked_two.handler());

  SECTION("one of them by its node") {
    const Outcome outcome = zklock({"revoke", two.node_path()});
    CHECK(outcome.status == 0);
    CHECK(outcome.output.starts_with("asked " + client.client_id() + " (session 0x"));
    CHECK(outcome.says(" to give back " + two.node_path() + "\n"));
    CHECK_FALSE(std::get<0>(asked_two.get()));
    CHECK_FALSE(asked_one.ready());
  }
  SECTION("all of them") {
    const Outcome outcome = zklock({"revoke", path, "--wait", "50ms"});
    CHECK(outcome.status == found);
    CHECK(outcome.says(one.node_path()));
    CHECK(outcome.says(two.node_path()));
    CHECK(outcome.errors == "zklock: 2 of 2 not given back within 50ms\n");
    CHECK_FALSE(std::get<0>(asked_one.get()));
    CHECK_FALSE(std::get<0>(asked_two.get()));
    CHECK(rows()[3][1] == "waiting");

    Program waits{{"revoke", path, "--wait", "20s"}, environment()};
    CHECK(waits.line().starts_with("asked "));
    CHECK(waits.line().starts_with("asked "));
    one = Lease{};
    two = Lease{};
    CHECK(waits.wait() == 0);
  }
}

TEST_CASE_METHOD(Fixture, "zklock revoke writes to no node that no client has made to stand in line") {
  const auto data_of = [&](const std::string& name) {
    return std::get<1>(outcome_of_operation<DataResult>(
                           [&](auto token) { session.async_get_data(path + "/" + name, std::move(token)); }))
        .data;
  };
  make("lock-0000000001", CreateMode::persistent, "mine");
  make("settings", CreateMode::persistent, "mine");
  CHECK(zklock({"revoke", path}).status == unavailable);
  CHECK(zklock({"revoke", path + "/lock-0000000001"}).status == unavailable);
  CHECK(zklock({"revoke", path + "/settings"}).output == "nobody holds " + path + "/settings\n");
  CHECK(zklock({"revoke", path + "/lock-0000000002"}).status == 0);  // gone
  CHECK(data_of("lock-0000000001") == "mine");
  CHECK(data_of("settings") == "mine");
}

TEST_CASE_METHOD(Fixture, "zklock run --revocable ends its command when it is asked to, and gives the lock back") {
  Program obeys = run({"--revocable"}, "trap 'echo ending; exit 9' TERM; ");
  static_cast<void>(obeys.line());
  const Outcome outcome = zklock({"revoke", path, "--wait", "20s"});
  CHECK(outcome.status == 0);
  CHECK(obeys.error_line() == "zklock: somebody asks for " + path + ": ending the command");
  CHECK(obeys.wait() == 9);
  CHECK(obeys.rest() == "ending\n");
  CHECK(in_line(0));

  Program deaf = run({"--revocable", "--kill-after", "100ms"}, "trap '' TERM; ");
  static_cast<void>(deaf.line());
  CHECK(zklock({"revoke", path, "--wait", "20s"}).status == 0);
  CHECK(deaf.wait() == 128 + SIGKILL);

  Program goes_on = run({});
  static_cast<void>(goes_on.line());
  CHECK(zklock({"revoke", path, "--wait", "300ms"}).status == found);
  CHECK_FALSE(goes_on.has_ended());
  goes_on.end_input();
  CHECK(goes_on.wait() == 0);
}

TEST_CASE_METHOD(Fixture, "zklock run --shared runs beside other readers, --exclusive alone") {
  Program one = run({"--shared"});
  static_cast<void>(one.line());
  Program two = run({"--shared"});
  static_cast<void>(two.line());
  Program writer = run({"--exclusive"});
  REQUIRE(in_line(3));
  CHECK(rows()[3][1] == "waiting");
  CHECK(zklock({"run", path, "--shared", "--timeout", "0s", "--", "true"}).status == 75);
  CHECK(zklock({"run", path, "--timeout", "0s", "--", "true"}).status == 0);  // a mutex is another line
  one.end_input();
  two.end_input();
  static_cast<void>(writer.line());
  CHECK(rows()[1][7] == "write");
  writer.end_input();
  CHECK(writer.wait() == 0);
  CHECK(zklock({"run", path, "--shared", "--exclusive", "--", "true"}).status == 64);
}

TEST_CASE_METHOD(Fixture, "zklock run --permits runs as many together, ls and revoke show and ask those who hold one") {
  Program one = run({"--permits", "2", "--revocable"});
  static_cast<void>(one.line());
  Program two = run({"--permits", "2"});
  static_cast<void>(two.line());
  CHECK(zklock({"run", path, "--permits", "2", "--timeout", "0s", "--session-timeout", "1s", "--", "true"}).status ==
        75);
  REQUIRE(in_line(2));
  Program three = run({"--permits", "2"});
  REQUIRE(in_line(4));  // with a place in line, and a node among the permits that is none yet
  const auto table = rows();
  const auto row_is = [&](std::size_t row, const std::string& state, const std::string& kind) {
    return table[row][0] == std::to_string(row) && table[row][1] == state && table[row][7] == kind;
  };
  CHECK(row_is(1, "holder", "permit"));
  CHECK(row_is(2, "holder", "permit"));
  CHECK(row_is(3, "waiting", "permit"));
  CHECK(row_is(4, "waiting", "mutex"));
  CHECK(table[1][8].starts_with("leases/"));
  CHECK(table[4][8].starts_with("locks/"));
  CHECK(table[3][4] == table[4][4]);

  const Outcome outcome = zklock({"revoke", path});
  CHECK(outcome.status == 0);
  CHECK(outcome.says(table[1][8]));
  CHECK(outcome.says(table[2][8]));
  CHECK_FALSE(outcome.says(table[3][8]));
  CHECK(one.wait() == 128 + SIGTERM);
  static_cast<void>(three.line());
  two.end_input();
  three.end_input();
  CHECK(two.wait() == 0);
  CHECK(three.wait() == 0);
  CHECK(zklock({"run", path, "--permits", "0", "--", "true"}).status == 64);
  CHECK(zklock({"run", path, "--permits", "2", "--shared", "--", "true"}).status == 64);
}

TEST_CASE_METHOD(Fixture, "zklock doctor says who waits for a permit, and which permit never comes back") {
  InterProcessSemaphore semaphore{client, path, 1};
  Lease permit = semaphore.acquire();
  CHECK(doctor({"--wait", "10ms"}).status == 0);
  SECTION("a line that does not move") {
    Pending<Lease> next;
    semaphore.async_acquire(next.handler());
    REQUIRE(in_line(3));
    const Outcome outcome = doctor({"--wait", "50ms"});
    CHECK(outcome.status == found);
    CHECK(outcome.says("problem: stuck: " + path + "/locks/"));
    CHECK(outcome.says("and 0 waiters behind it want permits"));
    CHECK(outcome.says("zklock revoke " + path + "\n"));
    permit = Lease{};
    CHECK_FALSE(std::get<0>(next.get()));
  }
  SECTION("a permit that nobody's end gives back, by whatever name") {
    make("leases/junk", CreateMode::persistent);
    const Outcome outcome = doctor();
    CHECK(outcome.status == found);
    CHECK(outcome.says("problem: persistent-node: " + path + "/leases/junk\n  it takes a permit"));
    CHECK(outcome.says("1 problem, 0 notes"));
  }
}

TEST_CASE_METHOD(Fixture, "zklock doctor takes a release for no permit") {
  make("release-0000000001", CreateMode::persistent);
  make("readme", CreateMode::persistent);
  const Outcome outcome = doctor();
  CHECK(outcome.status == 0);
  CHECK(outcome.output == "0 locks in use, 0 nodes in line: 0 problems, 0 notes\n");
}

// The command-line program with locks of all kinds: it looks at them, holds them, and asks for them.
#include "support/beside_program.hpp"
#include "support/catch.hpp"
#include "support/temporary_directory.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <fstream>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::test;

TEST_CASE_METHOD(BesideProgram,
                 "zklock ls shows readers and writers, holders and waiters, and which holders have been asked") {
  const InterProcessReadWriteLock lock{client, path};
  const Lease one = acquire(lock.read_lock());
  const Lease two = acquire(lock.read_lock());
  Pending<Lease> writer;
  Pending<Lease> reader;
  lock.write_lock().async_acquire(writer.handler());
  REQUIRE(queue_length(3));
  lock.read_lock().async_acquire(reader.handler());
  REQUIRE(queue_length(4));
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
  const ProgramOutcome json = zklock({"ls", path, "--json"});
  CHECK(json.says(R"("state":"asked","client":null,"count":null)"));
  CHECK(json.says(R"("kind":"write")"));
}

TEST_CASE_METHOD(BesideProgram,
                 "zklock revoke asks all holders of a lock and no other client, and waits until they are gone") {
  const InterProcessReadWriteLock lock{client, path};
  CHECK(zklock({"revoke", path}).output == "nobody holds " + path + "\n");
  Lease one = acquire(lock.read_lock());
  Lease two = acquire(lock.read_lock());
  Pending<Lease> writer;
  lock.write_lock().async_acquire(writer.handler());
  REQUIRE(queue_length(3));
  Pending<> asked_one;
  Pending<> asked_two;
  one.async_wait_revocation(asked_one.handler());
  two.async_wait_revocation(asked_two.handler());

  SECTION("one of them by its node") {
    const TemporaryDirectory directory;
    const std::string audit = directory.file("audit.json");
    const ProgramOutcome outcome = zklock({"revoke", two.node_path(), "--audit", audit});
    CHECK(outcome.status == 0);
    std::string record;
    std::getline(std::ifstream{audit}, record);
    for (const std::string& part : std::vector<std::string>{
             R"("event.action":"lock.revoke","event.outcome":"success")", R"("zklock.asked_by":"zklock revoke")",
             R"("user.name":")", R"("zklock.fencing_token":)" + std::to_string(two.fencing_token())}) {
      INFO(part);
      CHECK(record.find(part) != std::string::npos);
    }
    CHECK(outcome.output.starts_with("asked " + client.client_id() + " (session 0x"));
    CHECK(outcome.says(" to give back " + two.node_path() + "\n"));
    CHECK_FALSE(std::get<0>(asked_two.get()));
    CHECK_FALSE(asked_one.ready());
  }
  SECTION("all of them") {
    const ProgramOutcome outcome = zklock({"revoke", path, "--wait", "50ms"});
    CHECK(outcome.status == exit_status::found);
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

TEST_CASE_METHOD(BesideProgram, "zklock revoke writes only to nodes that a client has made for a wait queue") {
  const auto data_of = [&](const std::string& name) {
    return std::get<1>(outcome_of_operation<DataResult>(
                           [&](auto token) { session.async_get_data(path + "/" + name, std::move(token)); }))
        .data;
  };
  make("lock-0000000001", CreateMode::persistent, "mine");
  make("settings", CreateMode::persistent, "mine");
  CHECK(zklock({"revoke", path}).status == exit_status::unavailable);
  CHECK(zklock({"revoke", path + "/lock-0000000001"}).status == exit_status::unavailable);
  CHECK(zklock({"revoke", path + "/settings"}).output == "nobody holds " + path + "/settings\n");
  CHECK(zklock({"revoke", path + "/lock-0000000002"}).status == 0);  // gone
  CHECK(data_of("lock-0000000001") == "mine");
  CHECK(data_of("settings") == "mine");
}

TEST_CASE_METHOD(BesideProgram, "zklock run --revocable ends its command when it is asked to, and releases the lock") {
  Program obeys = run({"--revocable"}, "trap 'echo ending; exit 9' TERM; ");
  static_cast<void>(obeys.line());
  const ProgramOutcome outcome = zklock({"revoke", path, "--wait", "20s"});
  CHECK(outcome.status == 0);
  CHECK(obeys.error_line() == "zklock: somebody asks for " + path + ": ending the command");
  CHECK(obeys.wait() == 9);
  CHECK(obeys.rest() == "ending\n");
  CHECK(queue_length(0));

  Program deaf = run({"--revocable", "--kill-after", "100ms"}, "trap '' TERM; ");
  static_cast<void>(deaf.line());
  CHECK(zklock({"revoke", path, "--wait", "20s"}).status == 0);
  CHECK(deaf.wait() == 128 + SIGKILL);

  Program goes_on = run({});
  static_cast<void>(goes_on.line());
  CHECK(zklock({"revoke", path, "--wait", "300ms"}).status == exit_status::found);
  CHECK_FALSE(goes_on.has_ended());
  goes_on.end_input();
  CHECK(goes_on.wait() == 0);
}

TEST_CASE_METHOD(BesideProgram, "zklock run --max-hold gives the lock to others, and ends a command that hangs") {
  for (const std::vector<std::string>& mode :
       {std::vector<std::string>{}, {"--shared"}, {"--exclusive"}, {"--permits", "1"}}) {
    std::vector<std::string> options{"--max-hold", "2s"};
    options.insert(options.end(), mode.begin(), mode.end());
    Program hangs = run(options, "trap 'echo ending; exit 9' TERM; ");
    static_cast<void>(hangs.line());
    Program next = run(mode);
    static_cast<void>(next.line());
    CHECK(hangs.error_line() == "zklock: " + path + " was held for as long as --max-hold allows: ending the command");
    CHECK(hangs.wait() == exit_status::lock_lost);
    next.end_input();
    CHECK(next.wait() == 0);
  }
}

TEST_CASE_METHOD(BesideProgram, "zklock run --shared runs beside other readers, --exclusive alone") {
  Program one = run({"--shared"});
  static_cast<void>(one.line());
  Program two = run({"--shared"});
  static_cast<void>(two.line());
  Program writer = run({"--exclusive"});
  REQUIRE(queue_length(3));
  CHECK(rows()[3][1] == "waiting");
  CHECK(zklock({"run", path, "--shared", "--timeout", "0s", "--", "true"}).status == exit_status::not_acquired);
  CHECK(zklock({"run", path, "--timeout", "0s", "--", "true"}).status == 0);  // a mutex has another wait queue
  one.end_input();
  two.end_input();
  static_cast<void>(writer.line());
  CHECK(rows()[1][7] == "write");
  writer.end_input();
  CHECK(writer.wait() == 0);
  CHECK(zklock({"run", path, "--shared", "--exclusive", "--", "true"}).status == exit_status::usage);
}

TEST_CASE_METHOD(BesideProgram,
                 "zklock run --permits runs as many together, and ls and revoke show and ask the holders") {
  Program one = run({"--permits", "2", "--revocable"});
  static_cast<void>(one.line());
  Program two = run({"--permits", "2"});
  static_cast<void>(two.line());
  CHECK(zklock({"run", path, "--permits", "2", "--timeout", "0s", "--", "true"}).status == exit_status::not_acquired);
  REQUIRE(queue_length(2));
  Program three = run({"--permits", "2"});
  REQUIRE(queue_length(4));  // with a queue node, and a node among the permits that is none yet
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

  const ProgramOutcome outcome = zklock({"revoke", path});
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
  CHECK(zklock({"run", path, "--permits", "0", "--", "true"}).status == exit_status::usage);
  CHECK(zklock({"run", path, "--permits", "2", "--shared", "--", "true"}).status == exit_status::usage);
}

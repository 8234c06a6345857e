// zklock top, without a terminal.
#include "support/beside_program.hpp"
#include "support/catch.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/locks/inter_process_semaphore.hpp>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : BesideProgram {
  [[nodiscard]] std::vector<std::vector<std::string>> table(const ProgramOutcome& outcome) const {
    std::istringstream text{outcome.output};
    std::vector<std::vector<std::string>> result;
    for (std::string row; std::getline(text, row);) {
      std::istringstream words{row};
      result.emplace_back(std::istream_iterator<std::string>{words}, std::istream_iterator<std::string>{});
    }
    return result;
  }
  /// `zklock top --json`
  [[nodiscard]] Program follow() const { return Program{{"top", path, "--json"}, environment()}; }
  /// Reads lines until one has all of these words.
  static std::string line_with(Program& program, const std::vector<std::string>& words) {
    for (;;) {
      const std::string line = program.line();
      if (std::ranges::all_of(words, [&](const auto& word) { return line.find(word) != std::string::npos; }))
        return line;
      if (line.empty()) throw std::runtime_error{"the output has ended"};
    }
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture,
                 "zklock top without a terminal prints a table of all locks, the longest wait first, and ends") {
  const InterProcessMutex idle{client, path + "/a"};
  const InterProcessMutex busy{client, path + "/deep/b"};
  InterProcessSemaphore licences{client, path + "/licences", 2};
  const Lease one = acquire(idle);
  const Lease two = acquire(busy);
  const auto permits = licences.acquire_many(2);
  Pending<Lease> next;
  busy.async_acquire(next.handler());
  REQUIRE(eventually([&] { return children_of(session, path + "/deep/b").size() == 2; }));
  for (const bool says_once : {false, true}) {
    const ProgramOutcome outcome =
        zklock(says_once ? std::vector<std::string>{"top", path, "--once"} : std::vector<std::string>{"top", path});
    INFO(outcome.output << outcome.errors);
    CHECK(outcome.status == 0);
    const auto rows = table(outcome);
    REQUIRE(rows.size() == 4);
    CHECK(rows[0] == std::vector<std::string>{"LOCK", "KIND", "HOLDERS", "WAITING", "HELD", "LONGEST", "HOLDER"});
    const auto row_is = [&](std::size_t row, const std::string& name, const std::string& kind,
                            const std::string& holders, const std::string& waiting) {
      return rows[row][0] == path + name && rows[row][1] == kind && rows[row][2] == holders &&
             rows[row][3] == waiting && rows[row][6] == client.client_id();
    };
    CHECK(row_is(1, "/deep/b", "mutex", "1", "1"));
    CHECK(row_is(2, "/a", "mutex", "1", "0"));
    CHECK(row_is(3, "/licences", "semaphore", "2", "0"));
  }
}

TEST_CASE_METHOD(Fixture, "zklock top --once --json prints a line for each lock, and knows Kazoo's names") {
  const InterProcessMutex kazoos{client, path + "/kazoos", LockNaming::kazoo};
  const InterProcessMutex odd{client, path + "/a\xE2\x80\xAE"};
  const Lease theirs = acquire(kazoos);
  const Lease lease = acquire(odd);
  const ProgramOutcome outcome = zklock({"top", path, "--once", "--json"});
  INFO(outcome.output << outcome.errors);
  CHECK(outcome.status == 0);
  CHECK(outcome.says(R"({"path":")" + path + R"(/kazoos","kind":"kazoo","holders":1,"waiting":0,"holder":")" +
                     client.client_id() + R"(","asked":false,"held_ms":)"));
  CHECK(outcome.says(R"(/a\u202e","kind":"mutex")"));
  CHECK(std::ranges::count(outcome.output, '\n') == 2);
  const ProgramOutcome plain = zklock({"top", path});
  CHECK(plain.says("/a\\u{202E}"));
  CHECK_FALSE(plain.says("\xE2\x80\xAE"));
}

TEST_CASE_METHOD(Fixture, "zklock top says that its PATH does not exist, and does not create it") {
  for (const auto& words : std::vector<std::vector<std::string>>{{"top", path}, {"top", path, "--once", "--json"}}) {
    const ProgramOutcome outcome = zklock(words);
    CHECK(outcome.status == 0);
    CHECK(outcome.complains("there is no node " + path));
  }
  CHECK_FALSE(exists(session, path));
  Program program = follow();
  CHECK(program.line().starts_with(R"({"base":")" + path + R"(","exists":false,)"));
  const InterProcessMutex mutex{client, path + "/a"};
  const Lease lease = acquire(mutex);
  CHECK(Fixture::line_with(program, {"base"}).find(R"("exists":true)") != std::string::npos);
  CHECK_FALSE(Fixture::line_with(program, {path + "/a", R"("holder":")" + client.client_id()}).empty());
  program.signal(SIGTERM);
  CHECK(program.wait() == 0);
}

TEST_CASE_METHOD(Fixture, "zklock top --json prints a line for each change, until it is interrupted") {
  const InterProcessMutex mutex{client, path + "/a"};
  Lease first = acquire(mutex);
  Program program = follow();
  CHECK(program.line().find(R"("holders":1,"waiting":0,"holder":")" + client.client_id()) != std::string::npos);
  const Client other{
      {.connect_string = server.connect_string(), .session_timeout = session_timeout, .client_id = "other"}};
  Pending<Lease> next;
  InterProcessMutex{other, path + "/a"}.async_acquire(next.handler());
  const std::string waits = Fixture::line_with(program, {R"("waiting":1)"});
  CHECK(waits.find(R"("holder":")" + client.client_id()) != std::string::npos);
  first = {};
  CHECK_FALSE(Fixture::line_with(program, {R"("waiting":0)", R"("holder":"other")"}).empty());
  program.signal(SIGINT);
  CHECK(program.wait() == 0);
}

TEST_CASE("zklock top --json says when ZooKeeper is away, and when it is there again") {
  ProgramSetup setup;
  Client client = make_client(setup.server);
  const InterProcessMutex mutex{client, setup.path + "/a"};
  const Lease lease = acquire(mutex);
  Program program{{"top", setup.path, "--json"}, {"ZKLOCK_CONNECT=" + setup.server.connect_string()}};
  CHECK(program.line().find(R"("holders":1)") != std::string::npos);
  setup.server.kill();
  CHECK(program.line().starts_with(R"({"connected":false,"contact_ms":)"));
  setup.server.start();
  CHECK(program.line().starts_with(R"({"connected":true,)"));
  program.signal(SIGTERM);
  CHECK(program.wait() == 0);
}

TEST_CASE("zklock top refuses a malformed PATH, and fails where there is no ZooKeeper") {
  Program malformed{{"top", "locks", "--connect", "127.0.0.1:1"}};
  CHECK(outcome_of(malformed).status == exit_status::usage);
  Program lonely{{"top", "/locks", "--connect", "127.0.0.1:1"}};
  const ProgramOutcome outcome = outcome_of(lonely);
  CHECK(outcome.status == exit_status::unavailable);
  CHECK(outcome.complains("no ZooKeeper at 127.0.0.1:1"));
}

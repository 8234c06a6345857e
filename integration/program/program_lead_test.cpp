// `zklock lead` and `zklock leaders`.
#include "support/catch.hpp"
#include "support/leader_fixture.hpp"
#include "support/program_setup.hpp"

#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>

#include <iterator>
#include <sstream>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LeaderFixture {
  [[nodiscard]] std::vector<std::string> environment() const { return {"ZKLOCK_CONNECT=" + server.connect_string()}; }
  [[nodiscard]] ProgramOutcome zklock(std::vector<std::string> words) const {
    Program program{std::move(words), environment()};
    return outcome_of(program);
  }
  [[nodiscard]] Program stand(const std::vector<std::string>& options, const std::string& script) const {
    std::vector<std::string> words{"lead", path};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "sh", "-c", script});
    return Program{std::move(words), environment()};
  }
  /// The rows of `zklock leaders`, each in its words.
  [[nodiscard]] std::vector<std::vector<std::string>> rows() const {
    std::istringstream table{zklock({"leaders", path}).output};
    std::vector<std::vector<std::string>> result;
    for (std::string row; std::getline(table, row);) {
      std::istringstream text{row};
      result.emplace_back(std::istream_iterator<std::string>{text}, std::istream_iterator<std::string>{});
    }
    return result;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "zklock lead runs its command while it leads, with its token, and resigns") {
  Program program = stand({"--id", "first"}, "echo $ZKLOCK_FENCING_TOKEN; read line; exit 3");
  const std::int64_t token = std::stoll(program.line());
  const LeaderLatch latch{client, path, "second"};
  const auto listed = latch.participants();
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].id == "first");
  CHECK(listed[0].fencing_token == token);
  Pending<Leadership> next;
  latch.async_lead(next.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  const ProgramOutcome busy = zklock({"lead", path, "--timeout", "0", "--", "true"});
  CHECK(busy.status == exit_status::not_acquired);
  CHECK(busy.complains(path + " is led by somebody else"));
  program.end_input();
  CHECK(program.wait() == 3);
  CHECK(std::get<1>(next.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "zklock lead ends its command when the leadership is lost") {
  Program program = stand({"--id", "a"}, "echo $$; read line");
  const int command = number_from(program);
  delete_node(path + "/" + children_of(session, path).at(0));
  CHECK(program.wait() == exit_status::lock_lost);
  CHECK(is_dead(command));
}

TEST_CASE_METHOD(Fixture, "zklock lead with a priority lets a higher one go ahead, and may stand by a selector") {
  Leadership leader = lead(LeaderLatch{client, path, "now"});
  Program low = stand({"--id", "low", "--priority", "1"}, "echo low");
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  Program high = stand({"--id", "high", "--priority", "9"}, "echo high; read line; exit 0");
  REQUIRE(eventually([&] { return queue_length() == 3; }));
  CHECK_FALSE(resign(leader));
  CHECK(high.line() == "high");
  CHECK_FALSE(low.has_output());
  high.end_input();
  CHECK(high.wait() == 0);
  CHECK(low.line() == "low");
  CHECK(low.wait() == 0);

  Program selected = stand({"--selector", "--id", "s"}, "echo in; read line; exit 0");
  CHECK(selected.line() == "in");
  CHECK(LeaderSelector(client, path).participants().at(0).id == "s");
  selected.end_input();
  CHECK(selected.wait() == 0);
}

TEST_CASE_METHOD(Fixture, "zklock leaders shows the leader and the candidates behind it, as a table and as JSON") {
  CHECK(zklock({"leaders", path}).complains("nobody leads"));
  const Leadership leader = lead(LeaderLatch{client, path, "it is me"});
  Pending<Leadership> next;
  LeaderLatch{other, path, "b", {.priority = 7}}.async_lead(next.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  const auto table = rows();
  REQUIRE(table.size() == 3);
  CHECK(table[0] == std::vector<std::string>{"POSITION", "STATE", "ID", "SESSION", "TOKEN", "AGE", "NODE"});
  CHECK(table[1][0] == "1");
  CHECK(table[1][1] == "leader");
  CHECK(zklock({"leaders", path}).says("it is me"));
  CHECK(table[2][1] == "waiting");
  CHECK(table[2][2] == "b");
  CHECK(table[2].back().find("-p007-latch-") != std::string::npos);
  const ProgramOutcome outcome = zklock({"leaders", path, "--json"});
  CHECK(outcome.status == 0);
  CHECK(outcome.says(R"([{"position":1,"state":"leader","id":"it is me",)"));
  CHECK(outcome.says("\"fencing_token\":" + std::to_string(leader.fencing_token())));

  const std::string selected = path + "-selector";
  const Leadership other_leader = lead(LeaderSelector{client, selected, "s", LockNaming::kazoo});
  CHECK(zklock({"leaders", selected, "--json"}).says(R"("id":"s")"));
}

TEST_CASE_METHOD(Fixture, "zklock lead says what is wrong with its command line") {
  CHECK(zklock({"lead", path}).complains("no command: write it after '--', as in 'zklock lead PATH -- sleep 5'"));
  CHECK(zklock({"leaders", path, "--", "true"}).complains("only 'zklock run' and 'zklock lead' take a command"));
  CHECK(zklock({"lead", path, "--priority", "1000", "--", "true"}).status == exit_status::usage);
  CHECK(zklock({"lead", path, "--selector", "--priority", "1", "--", "true"}).status == exit_status::usage);
  CHECK(zklock({"lead", "--help"}).says("Usage: zklock lead PATH [OPTIONS] -- COMMAND"));
}

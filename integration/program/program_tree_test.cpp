// zklock tree and zklock watch.
#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/program_setup.hpp"

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture {
  testing::TestServer& server = shared_server();
  Client client = make_client(server);
  Session session = connected_session(client);
  std::string path = fresh_path();
  std::string environment = "ZKLOCK_CONNECT=" + server.connect_string();

  Fixture() {
    REQUIRE_FALSE(
        create(client, path + "/config/rate", "10", CreateOptions{CreateMode::persistent}.creating_parents()));
  }
  [[nodiscard]] ProgramOutcome zklock(std::vector<std::string> words) const {
    Program program{std::move(words), {environment}};
    return outcome_of(program);
  }
  /// The next line that begins with this text; the lines before it do not count.
  static std::string line_of(Program& program, const std::string& beginning) {
    for (int i = 0; i < 50; ++i)
      if (std::string line = program.line(); line.starts_with(beginning)) return line;
    return "none";
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "zklock tree shows the nodes below a path, with data, versions and owners") {
  REQUIRE_FALSE(create(client, path + "/worker", "here\x1b", CreateMode::ephemeral));
  const ProgramOutcome table = zklock({"tree", path});
  CHECK(table.status == 0);
  CHECK(table.says("NODE"));
  CHECK(table.says("    rate"));
  CHECK(table.says("0x"));  // the session of the worker
  CHECK(table.says("here\\u{1B}"));
  const ProgramOutcome json = zklock({"tree", path, "--json"});
  CHECK(json.says("\"path\":\"" + path + "/config/rate\",\"data\":\"10\",\"bytes\":2,\"version\":0"));
  const ProgramOutcome none = zklock({"tree", path + "/none"});
  CHECK(none.status == exit_status::found);
  CHECK(none.complains("there is no node"));
}

TEST_CASE_METHOD(Fixture, "zklock watch prints what is there, then each change, until it is interrupted") {
  Program program{{"watch", path, "--recursive"}, {environment}};
  CHECK(line_of(program, "created " + path + "/config/rate") == "created " + path + "/config/rate v0 10");
  line_of(program, "live");
  REQUIRE_FALSE(std::get<0>(set_data(client, path + "/config/rate", "20")));
  CHECK(line_of(program, "changed") == "changed " + path + "/config/rate v1 20");
  REQUIRE_FALSE(remove(client, path + "/config/rate"));
  CHECK(line_of(program, "deleted") == "deleted " + path + "/config/rate");
  program.signal(SIGTERM);
  CHECK(program.wait() == 0);
}

TEST_CASE_METHOD(Fixture,
                 "zklock watch without --recursive shows a node and its children, and --json is a line for each") {
  Program program{{"watch", path, "--json"}, {environment}};
  CHECK(line_of(program, "{\"type\":\"created\",\"path\":\"" + path + "/config\"").find("\"version\":0") !=
        std::string::npos);
  line_of(program, "{\"type\":\"live\"");
  REQUIRE_FALSE(std::get<0>(set_data(client, path + "/config/rate", "20")));
  REQUIRE_FALSE(std::get<0>(set_data(client, path + "/config", "x")));
  CHECK(line_of(program, "{\"type\":\"changed\"").find(path + "/config\",\"data\":\"x\"") != std::string::npos);
  program.signal(SIGINT);
  CHECK(program.wait() == 0);
}

TEST_CASE_METHOD(Fixture, "zklock watch and tree refuse a bad path, and say when there is no server") {
  CHECK(zklock({"watch", "no-path"}).status == exit_status::usage);
  CHECK(zklock({"tree", "/a//b"}).status == exit_status::usage);
  Program nowhere{{"tree", "/", "--connect", "127.0.0.1:1"}};
  const ProgramOutcome outcome = outcome_of(nowhere);
  CHECK(outcome.status == exit_status::unavailable);
}

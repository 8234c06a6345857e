// What `zklock run` starts, and how it ends.
#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/program_setup.hpp"

#include <cstdio>
#include <filesystem>

using namespace zklock;
using namespace zklock::test;

TEST_CASE_METHOD(ProgramSetup, "zklock run holds the lock until all that its command has started has ended") {
  Program program = run({}, "echo $$; sh -c 'trap \"\" TERM; echo $$; read line'; exit 3");
  const int shell = number_from(program);
  const int child = number_from(program);
  program.signal(SIGTERM);
  REQUIRE(eventually([&] { return is_dead(shell); }));
  CHECK(now_or_never() == exit_status::not_acquired);
  CHECK_FALSE(program.has_ended());
  CHECK_FALSE(is_dead(child));
  program.end_input();
  CHECK(program.wait() == 128 + SIGTERM);
  CHECK(is_dead(child));
  CHECK(is_free());
}

TEST_CASE_METHOD(ProgramSetup,
                 "SIGTERM to zklock run ends all that its command has started, SIGUSR1 goes to the command") {
  // With setsid: in a process group of its own.
  Program program = run({}, "trap 'echo heard' USR1; setsid sleep 1000 & echo $!; while :; do wait; done");
  const int child = number_from(program);
  program.signal(SIGUSR1);
  CHECK(program.line() == "heard");
  CHECK_FALSE(is_dead(child));
  program.signal(SIGTERM);
  CHECK(program.wait() == 128 + SIGTERM);
  CHECK(is_dead(child));
}

TEST_CASE_METHOD(ProgramSetup, "nothing that a command has started outlives the lock or zklock run", "[faults]") {
  const std::string script = "trap '' TERM; setsid sleep 1000 & echo $!; wait";
  {
    Program program = run({"--session-timeout", "3s"}, script);
    const int child = number_from(program);
    program.signal(SIGKILL);
    CHECK(program.wait() == 128 + SIGKILL);
    CHECK(eventually([&] { return is_dead(child); }));
  }
  Program program = run({"--session-timeout", "3s", "--kill-after", "100ms"}, script);
  const int child = number_from(program);
  server.pause();
  CHECK(eventually([&] { return is_dead(child); }));
  server.resume();  // else it tries to release the lock for long
  CHECK(program.wait() == exit_status::lock_lost);
}

TEST_CASE_METHOD(ProgramSetup, "the command of a stopped zklock run ends when the lease does", "[faults]") {
  Program program = run({"--session-timeout", "3s", "--kill-after", "100ms"}, "trap '' TERM; echo $$; read line");
  const int command = number_from(program);
  program.signal(SIGSTOP);
  REQUIRE(eventually([&] { return is_dead(command); }));
  CHECK(eventually([&] { return is_free(); }));
  program.signal(SIGCONT);
  CHECK(program.errors().find("zklock is stopped or late: ending the command") != std::string::npos);
  CHECK(program.wait() == exit_status::lock_lost);
}

TEST_CASE_METHOD(ProgramSetup, "zklock run passes on the status of a command that ended before its lease", "[faults]") {
  Program program = run({"--session-timeout", "8s"}, "echo $$; read line; exit 7");
  const int command = number_from(program);
  server.pause();
  program.end_input();
  REQUIRE(eventually([&] { return is_dead(command); }));
  CHECK(program.wait() == 7);
  CHECK(program.errors().find("its session's end will") != std::string::npos);
}

TEST_CASE_METHOD(ProgramSetup, "zklock run says that its lock was lost when another client has deleted its node",
                 "[faults]") {
  const Client client = make_client(server);
  Program program = run({}, "echo $$; read line; exit 7");
  static_cast<void>(number_from(program));
  const Session session = connected_session(client);
  for (const std::string& name : children_of(session, path)) REQUIRE_FALSE(remove(client, path + "/" + name));
  CHECK(program.wait() == exit_status::lock_lost);
}

namespace {

struct LongSessions : ProgramSetup {
  LongSessions() : ProgramSetup{{.tick = 2s}} {}
};

}  // namespace

TEST_CASE_METHOD(LongSessions, "zklock run reports a session that the server ends long before its timeout",
                 "[faults]") {
  Program program = run({"--session-timeout", "40s"}, "trap 'exit 0' TERM; echo $$; while :; do sleep 1; done");
  const int command = number_from(program);
  server.kill();  // and an operator restores older data
  std::filesystem::remove_all(server.directory() / "data" / "version-2");
  server.start();
  const Client client = make_client(server);
  // A server that is behind what a client has seen would refuse the client.
  for (int i = 0; i < 20; ++i) REQUIRE_FALSE(create(client, "/node-" + std::to_string(i)));
  CHECK(program.wait() == exit_status::lock_lost);
  CHECK(is_dead(command));
}

TEST_CASE_METHOD(ProgramSetup, "zklock takes credentials from the command line, a file, or the environment") {
  ClientConfig config{.connect_string = server.connect_string()};
  config.auth = {{"digest", "alice:secret"}};
  const Client alice{std::move(config)};
  NodeOptions ours;
  ours.acl = creator_all_acl();
  REQUIRE_FALSE(create(alice, path, "", CreateOptions{ours}.creating_parents()));
  const std::string file = (server.directory() / "credentials").string();
  std::ofstream{file} << "digest:bob:hidden\n\ndigest:alice:secret\n";
  const std::string of_windows = (server.directory() / "credentials.txt").string();
  std::ofstream{of_windows} << "digest:bob:hidden\r\n\r\ndigest:alice:secret\r\n";

  const auto status = [&](std::vector<std::string> options, std::vector<std::string> environment = {}) {
    options.insert(options.begin(), {"run", path});
    options.insert(options.end(), {"--", "true"});
    return zklock(options, std::move(environment)).status;
  };
  CHECK(status({}) == exit_status::unavailable);
  CHECK(status({"--auth", "digest:bob:hidden", "--auth", "digest:alice:secret"}) == 0);
  CHECK(status({"--auth-file", file}) == 0);
  CHECK(status({"--auth-file", of_windows}) == 0);
  CHECK(status({}, {"ZKLOCK_AUTH=digest:alice:secret"}) == 0);
  CHECK(status({"--auth-file", "/no/such/file"}) == exit_status::usage);
  const ProgramOutcome wrong = zklock({"ls", path, "--auth", "hush"});
  CHECK(wrong.status == exit_status::usage);
  CHECK(wrong.complains("is no SCHEME:ID"));
  CHECK_FALSE(wrong.complains("hush"));
}

namespace {

struct ServerWithDoorman : ProgramSetup {
  ServerWithDoorman()
      : ProgramSetup{
            {.jvm_options = {"-Dzookeeper.enforce.auth.enabled=true", "-Dzookeeper.enforce.auth.schemes=digest"}}} {}
};

}  // namespace

TEST_CASE_METHOD(ServerWithDoorman,
                 "zklock says that a server demands credentials, and neither waits nor blames others") {
  const std::vector<std::vector<std::string>> calls{{"run", path, "--", "true"},
                                                    {"run", path, "--timeout", "5s", "--", "true"},
                                                    {"run", path, "--timeout", "0", "--", "true"},
                                                    {"lead", path, "--", "true"},
                                                    {"watch", path}};
  for (const auto& words : calls) {
    CAPTURE(words);
    const ProgramOutcome outcome = zklock(words);
    CHECK(outcome.status == exit_status::unavailable);
    CHECK(outcome.complains("authentication failed"));
  }
  CHECK(zklock({"run", path, "--auth", "digest:alice:secret", "--", "true"}).status == 0);
}

TEST_CASE("zklock refuses bad numbers and durations in a readable line") {
  const auto errors = [](const std::vector<std::string>& more) {
    std::vector<std::string> words{"run", "/a", "--connect", "x:1"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "true"});
    Program program{std::move(words)};
    const ProgramOutcome outcome = outcome_of(program);
    CHECK(outcome.status == exit_status::usage);
    return outcome.errors;
  };
  for (const char* number : {"0", "-1", "2147483648", "many"}) CHECK(errors({"--permits", number}).size() < 200);
  CHECK(errors({"--timeout", "1.s"}).find("'1.s' is no duration") != std::string::npos);
  CHECK(errors({"--timeout", "a\xE2\x80\xAEs"}).find("a\\u{202E}s") != std::string::npos);
}

TEST_CASE("zklock server listens on the port that it is given") {
  for (int ports_left = 5;; --ports_left) {
    const std::string port = std::to_string(testing::TestServer{}.port());
    Program server{{"server", "--port", port}};
    const std::string address = server.line();
    if (address.empty() && ports_left > 1) continue;  // another test has taken the port meanwhile
    CHECK(address == "127.0.0.1:" + port);
    Program second{{"server", "--port", port}};
    const ProgramOutcome outcome = outcome_of(second);
    CHECK(outcome.status == exit_status::unavailable);
    CHECK(outcome.complains("port " + port + " of 127.0.0.1 is taken"));
    server.signal(SIGTERM);
    CHECK(server.wait() == 0);
    return;
  }
}

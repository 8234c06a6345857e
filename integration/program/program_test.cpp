// The command-line program, as its users meet it.
#include "support/program.hpp"

#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/ports.hpp"

#include <fstream>
#include <sstream>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr int usage = 64;
constexpr int unavailable = 69;
constexpr int not_acquired = 75;
constexpr int lock_lost = 76;

/// Says its process id and its token, then stays until its input ends, and exits with `status`.
std::vector<std::string> command(const std::string& before = "", int status = 0) {
  return {"--", "sh", "-c", before + "echo $$ $ZKLOCK_FENCING_TOKEN; read line; exit " + std::to_string(status)};
}

std::vector<std::string> words(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

struct Holder {
  int pid = 0;
  std::int64_t token = 0;
};

Holder holder_of(Program& program) {
  Holder holder;
  std::istringstream{program.line()} >> holder.pid >> holder.token;
  return holder;
}

/// The process is gone, or has ended and was not yet reaped by the process that has inherited it.
bool is_dead(int pid) {
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text;
  return !std::getline(stat, text) || text.substr(text.rfind(')') + 2, 1) == "Z";
}

class Setup {
 public:
  explicit Setup(testing::TestServerOptions options = {}) : server_{std::move(options)} {}
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::vector<std::string> environment() const { return {"ZKLOCK_CONNECT=" + server_.connect_string()}; }
  [[nodiscard]] testing::TestServer& server() { return server_; }

  [[nodiscard]] Program run(const std::vector<std::string>& more) const { return start("run", more); }
  [[nodiscard]] Program start(const std::string& subcommand, const std::vector<std::string>& more) const {
    return Program{words({subcommand, path_}, more), environment()};
  }
  [[nodiscard]] int status(const std::vector<std::string>& more) const { return run(more).wait(); }
  [[nodiscard]] std::vector<std::string> line() const {
    Program ls = start("ls", {});
    std::istringstream table{ls.rest()};
    std::vector<std::string> result;
    for (std::string row; std::getline(table, row);) result.push_back(row);
    if (ls.wait() != 0) result.clear();
    return result;
  }
  [[nodiscard]] bool waits_in_line(std::size_t count) const {
    return eventually([&] { return line().size() == 1 + count; });
  }

 private:
  testing::TestServer server_;
  std::string path_ = fresh_path();
};

int status_of(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
  return Program{std::move(arguments), std::move(environment)}.wait();
}

}  // namespace

TEST_CASE("two zklock runs queue, ls shows both, and killing the first ends its command and lets the second run") {
  const Setup setup;
  Program first = setup.run(words({"--session-timeout", "3s"}, command()));
  const Holder alice = holder_of(first);
  Program second = setup.run(command());
  REQUIRE(setup.waits_in_line(2));
  const auto line = setup.line();
  CHECK(line[0].starts_with("POSITION  STATE    CLIENT"));
  CHECK(line[1].starts_with("1         holder   "));
  CHECK(line[2].starts_with("2         waiting  "));
  CHECK(line[1].find(std::to_string(alice.token)) != std::string::npos);
  CHECK_FALSE(second.has_ended());

  first.signal(SIGKILL);
  const Holder bob = holder_of(second);
  CHECK(eventually([&] { return is_dead(alice.pid); }));
  CHECK(bob.token > alice.token);
  CHECK(first.wait() == 128 + SIGKILL);
  second.end_input();
  CHECK(second.wait() == 0);
  CHECK(setup.waits_in_line(0));
}

TEST_CASE("zklock run passes the command's exit status on, and tells why it has none") {
  const Setup setup;
  CHECK(setup.status({"--", "sh", "-c", "exit 7"}) == 7);
  CHECK(setup.status({"--", "sh", "-c", "kill -TERM $$"}) == 128 + SIGTERM);
  CHECK(setup.status({"--", "no-such-command"}) == 127);
  CHECK(setup.status({"--", "/"}) == 126);
  CHECK(setup.waits_in_line(0));
  const RefusingPort nobody;
  CHECK(status_of({"run", "/a", "--timeout", "300ms", "--connect", nobody.address(), "--", "true"}) == unavailable);
}

TEST_CASE("zklock explains a wrong command line") {
  const auto explanation = [](std::vector<std::string> arguments) {
    Program program{std::move(arguments)};
    CHECK(program.wait() == usage);
    return program.errors();
  };
  const auto which = explanation({"run", "/a", "--", "true"});
  CHECK(which.find("--connect") != std::string::npos);
  CHECK(which.find("ZKLOCK_CONNECT") != std::string::npos);
  CHECK(which.find("--dev") != std::string::npos);
  CHECK(explanation({"run", "/a", "--timeout", "5", "--", "true"}).find("'5' is no duration") != std::string::npos);
  CHECK(explanation({"run", "/a", "--connect", "x:1"}).find("after '--'") != std::string::npos);
  CHECK(explanation({"run", "/a", "--connect", "x:0", "--", "true"}).find("invalid connect string") !=
        std::string::npos);
  CHECK(explanation({"run", "a", "--connect", "x:1", "--", "true"}).find("invalid lock path") != std::string::npos);
  CHECK(explanation({"run", "/a", "--connect", "x:1", "--dev", "--", "true"}).find("--dev") != std::string::npos);
  CHECK(explanation({"walk"}).find("no subcommand 'walk'") != std::string::npos);
  CHECK(explanation({}).find("--help") != std::string::npos);
  for (const char* subcommand : {"run", "ls", "revoke", "doctor", "server"}) {
    Program help{{subcommand, "--help"}};
    CHECK(help.rest().find("Exit status:") != std::string::npos);
    CHECK(help.wait() == 0);
  }
}

TEST_CASE("zklock run gives up in time, and leaves the wait queue when interrupted") {
  const Setup setup;
  Program holder = setup.run(command());
  static_cast<void>(holder_of(holder));
  CHECK(setup.status({"--timeout", "0s", "--", "true"}) == not_acquired);
  CHECK(setup.status({"--timeout", "3s", "--", "true"}) == not_acquired);
  Program waiting = setup.run(command());
  REQUIRE(setup.waits_in_line(2));
  waiting.signal(SIGINT);
  CHECK(waiting.wait() == 128 + SIGINT);
  CHECK(waiting.rest().empty());
  CHECK(setup.waits_in_line(1));
}

TEST_CASE("zklock run forwards a signal, and holds the lock until the command has ended") {
  const Setup setup;
  Program program = setup.run(command("trap 'echo heard' TERM; ", 3));
  const Holder holder = holder_of(program);
  program.signal(SIGTERM);
  // Some shells resume the reading after the trap, some end it.
  CHECK(program.line() == "heard");
  program.end_input();
  CHECK(program.wait() == 3);
  CHECK(is_dead(holder.pid));
  CHECK(setup.waits_in_line(0));
}

TEST_CASE("zklock run warns of a lost link, and the command goes on", "[faults]") {
  Setup setup{{.tick = long_tick}};
  Program program = setup.run(words({"--session-timeout", "40s"}, command("", 5)));
  static_cast<void>(holder_of(program));
  setup.server().restart();
  CHECK(program.error_line().find("warning: no link to ZooKeeper") != std::string::npos);
  CHECK(program.error_line().find("still held") != std::string::npos);
  program.end_input();
  CHECK(program.wait() == 5);
}

TEST_CASE("zklock run ends a command that has lost its lock, with SIGKILL if it must", "[faults]") {
  Setup setup;
  Program polite = setup.run(words({"--session-timeout", "3s"}, command()));
  const Holder first = holder_of(polite);
  setup.server().pause();
  CHECK(eventually([&] { return is_dead(first.pid); }));
  setup.server().resume();  // else it tries to release the lock for long
  CHECK(polite.wait() == lock_lost);
  const std::string reason = polite.errors();
  CHECK(reason.find("is lost with its session") != std::string::npos);
  CHECK(reason.find("killing it") == std::string::npos);

  Program deaf = setup.run(words({"--session-timeout", "3s", "--kill-after", "100ms"}, command("trap '' TERM; ")));
  const Holder second = holder_of(deaf);
  setup.server().kill();
  CHECK(deaf.wait() == lock_lost);
  CHECK(is_dead(second.pid));
  CHECK(deaf.errors().find("killing it") != std::string::npos);
}

TEST_CASE("zklock run --dev starts a server, and its command gets the connect string") {
  Program program{{"run", "--dev", "/a", "--", ZKLOCK_PROGRAM, "ls", "/a", "--json"}};
  const std::string json = program.rest();
  CHECK(program.wait() == 0);
  CHECK(json.starts_with(R"([{"position":1,"state":"holder","client":")"));
  CHECK(json.find(R"("count":1,"session":"0x)") != std::string::npos);
}

TEST_CASE("zklock server prints where it listens, and runs until interrupted") {
  Program server{{"server"}};
  const std::string connect = server.line();
  CHECK(connect.starts_with("127.0.0.1:"));
  CHECK(status_of({"run", "/a", "--connect", connect, "--", "true"}) == 0);
  Program ls{{"ls", "/never/used", "--connect", connect}};
  CHECK(ls.rest().starts_with("POSITION"));
  CHECK(ls.wait() == 0);
  CHECK_FALSE(server.has_ended());
  server.signal(SIGTERM);
  CHECK(server.rest().empty());
  CHECK(server.wait() == 0);
}

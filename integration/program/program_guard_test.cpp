// `zklock run`, and the process between it and its command.
#include "support/catch.hpp"
#include "support/program_setup.hpp"

#include <filesystem>

using namespace zklock;
using namespace zklock::test;

namespace {

/// The end of a script whose child moves to a process group of its own.
constexpr const char* stay = "trap '' TERM; setsid sleep 1000 & echo $! $PPID; wait";

struct Started {
  int child = 0;
  int guard = 0;
};

Started started_by(Program& program) {
  Started started;
  std::istringstream{program.line()} >> started.child >> started.guard;
  return started;
}

struct LongSessions : ProgramSetup {
  LongSessions() : ProgramSetup{{.tick = 2s}} {}
};

}  // namespace

TEST_CASE_METHOD(ProgramSetup, "when the guard is killed nothing that the command has started goes on without the lock",
                 "[faults]") {
  const auto kill_guard_of = [](Program& program) {
    const Started started = started_by(program);
    ::kill(started.guard, SIGKILL);
    const ProgramOutcome outcome = outcome_of(program);
    CHECK(outcome.status == 128 + SIGKILL);
    CHECK(is_dead(started.child));
    CHECK(outcome.complains("the command's guard was killed"));
    CHECK_FALSE(outcome.complains("back, its session's end will"));
  };
  SECTION("with a server elsewhere") {
    Program program = run({}, stay);
    kill_guard_of(program);
    CHECK(is_free());
  }
  SECTION("with a server of its own, which lives until the lock is released") {
    Program program{{"run", "--dev", path, "--", "sh", "-c", stay}};
    kill_guard_of(program);
  }
}

TEST_CASE_METHOD(ProgramSetup, "a guard that was stopped and has missed the order to end its command is told again",
                 "[faults]") {
  Program program = run({"--revocable", "--session-timeout", "4s"}, "trap '' USR1; echo $PPID; read line");
  const int guard = number_from(program);
  ::kill(guard, SIGSTOP);
  for (int i = 0; i < 600; ++i) {  // fills the guard's socket, one by one: a pending signal is not sent twice
    program.signal(SIGUSR1);
    ::poll(nullptr, 0, 1);
  }
  CHECK(zklock({"revoke", path}).status == 0);
  CHECK(program.error_line().find("ending the command") != std::string::npos);
  ::kill(guard, SIGCONT);
  CHECK(program.wait() == 128 + SIGTERM);
}

TEST_CASE_METHOD(ProgramSetup, "a flood of signals does not hide the command's end", "[faults]") {
  Program program = run({}, "trap '' TERM; echo ready; read line; exit 7");
  CHECK(program.line() == "ready");
  program.end_input();
  REQUIRE(eventually([&] {
    for (int i = 0; i < 100 && !program.has_ended(); ++i) program.signal(SIGTERM);
    return program.has_ended();
  }));
  CHECK(program.wait() == 7);
}

TEST_CASE_METHOD(LongSessions, "a signal ends the wait for a silent server, but keeps the command's status",
                 "[faults]") {
  Program program = run({"--session-timeout", "40s"}, "echo $$; read line; exit 7");
  const int command = number_from(program);
  server.pause();
  program.end_input();
  REQUIRE(eventually([&] { return is_dead(command); }));
  CHECK(eventually([&] {
    program.signal(SIGTERM);
    return program.has_ended();
  }));
  CHECK(program.wait() == 7);
  CHECK(program.errors().find("its session's end will") != std::string::npos);
}

TEST_CASE_METHOD(ProgramSetup, "Ctrl-C reaches the processes that an ended command has left behind once") {
  // A shell lets what it puts into the background ignore SIGINT.
  const std::string command =
      "shell=$$ guard=$PPID zklock=$(cut -d\" \" -f4 /proc/$PPID/stat) env --default-signal=INT sh -c '\\''"
      "trap \"echo heard\" INT; trap \"echo over; exit\" TERM; echo $shell $guard $zklock; while :; do sleep 0.1; "
      "done'\\'' &";
  Process terminal{
      "script",
      {"-qec", "exec " + std::string{ZKLOCK_PROGRAM} + " run " + path + " -- sh -c '" + command + "'", "/dev/null"},
      {"ZKLOCK_CONNECT=" + server.connect_string()}};
  int shell = 0;
  int guard = 0;
  int program = 0;
  std::istringstream{terminal.line()} >> shell >> guard >> program;
  REQUIRE(program > 0);
  REQUIRE(eventually([&] { return !std::filesystem::exists("/proc/" + std::to_string(shell)); }));
  const auto next = [&] {
    for (;;) {
      const std::string line = terminal.line();
      if (line.find("heard") != std::string::npos) return "heard";
      if (line.empty() || line.find("over") != std::string::npos) return "over";
    }
  };
  ::kill(guard, SIGSTOP);  // so that a shell that hears the signal twice shows it
  terminal.say("\x03");
  CHECK(next() == std::string{"heard"});
  ::kill(guard, SIGCONT);
  ::kill(program, SIGTERM);
  CHECK(next() == std::string{"over"});
  CHECK(terminal.wait() == 0);
}

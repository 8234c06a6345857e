// A server, and the program as a user runs it.
#pragma once

#include "fixture.hpp"
#include "program.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace zklock::test {

/// The program's exit statuses, as its --help names them.
namespace exit_status {
inline constexpr int found = 1;
inline constexpr int usage = 64;
inline constexpr int unavailable = 69;
inline constexpr int not_acquired = 75;
inline constexpr int lock_lost = 76;
}  // namespace exit_status

/// The process is gone, or has ended and was not yet reaped by the process that has inherited it.
inline bool is_dead(int pid) {
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text;
  return !std::getline(stat, text) || text.substr(text.rfind(')') + 2, 1) == "Z";
}

struct ProgramOutcome {
  int status = 0;
  std::string output;
  std::string errors;

  [[nodiscard]] bool says(const std::string& text) const { return output.find(text) != std::string::npos; }
  [[nodiscard]] bool complains(const std::string& text) const { return errors.find(text) != std::string::npos; }
};

/// What the program has written and returned, once it has ended.
inline ProgramOutcome outcome_of(Program& program) {
  ProgramOutcome outcome;
  outcome.output = program.rest();
  outcome.errors = program.errors();
  outcome.status = program.wait();
  return outcome;
}

class ProgramSetup {
 public:
  explicit ProgramSetup(testing::TestServerOptions options = {}) : server{std::move(options)} {}

  /// `zklock` with this server in its environment.
  [[nodiscard]] ProgramOutcome zklock(std::vector<std::string> words, std::vector<std::string> environment = {}) const {
    environment.push_back("ZKLOCK_CONNECT=" + server.connect_string());
    Program program{std::move(words), std::move(environment)};
    return outcome_of(program);
  }
  /// `zklock run` at the path.
  [[nodiscard]] Program run(const std::vector<std::string>& options, const std::string& script) const {
    std::vector<std::string> words{"run", path};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "sh", "-c", script});
    return Program{std::move(words), {"ZKLOCK_CONNECT=" + server.connect_string()}};
  }
  /// The status of one try to get the lock.
  [[nodiscard]] int now_or_never() const { return zklock({"run", path, "--timeout", "0", "--", "true"}).status; }
  /// Whether no client has the lock.
  [[nodiscard]] bool is_free() const { return now_or_never() == 0; }

  testing::TestServer server;
  std::string path = fresh_path();
};

/// Reads a line with a number.
inline int number_from(Program& program) { return std::stoi(program.line()); }

}  // namespace zklock::test

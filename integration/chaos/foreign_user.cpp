#include "foreign_user.hpp"

#include "layout.hpp"
#include "register.hpp"
#include "support/await.hpp"
#include "support/process.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <random>
#include <string_view>
#include <thread>
#include <utility>

#include <sys/prctl.h>
#include <unistd.h>

namespace zklock::chaos {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto longest_answer = 60s;  // with an order; then the program is killed, and started again

bool succeeds(const std::string& program, std::vector<std::string> words) {
  try {
    return test::Process{program, std::move(words)}.wait() == 0;
  } catch (const std::exception&) {  // no such program
    return false;
  }
}

bool is_here(std::string_view library) {
  if (library == "kazoo") return succeeds(ZKLOCK_PYTHON, {"-c", "import kazoo"});
  return std::filesystem::exists(ZKLOCK_CURATOR_PEERS) && std::filesystem::exists(ZKLOCK_CURATOR_RECIPES_JAR) &&
         succeeds("java", {"-version"});
}

class ForeignUser {
 public:
  explicit ForeignUser(const ForeignUserOptions& options)
      : options_{options}, random_{options.seed}, access_{options.register_port, options.process} {
    log_.write({.event = Event::measured, .process = options.process, .reason = "foreign_user"});
  }

  int run() {
    std::cout << "working" << std::endl;
    std::thread listener{[this] {
      wait_for("rest");
      closing_time_ = true;
    }};
    while (!closing_time_) take_turn();  // here: the program ends with this thread
    listener.join();
    std::ofstream{options_.log.string() + ".rested"};
    wait_for("drain");
    if (program_) ask("close");
    log_.write({.event = Event::drained, .process = options_.process});
    std::ofstream{options_.log.string() + ".drained"};
    wait_for("quit");
    return 0;
  }

 private:
  static void wait_for(const std::string& word) {
    for (std::string line; std::getline(std::cin, line) && line != word;) {
    }
  }

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  /// The program's answer to that order. "failed" if there is none.
  std::string ask(const std::string& order) {
    if (!program_) start();
    program_->say(order);
    std::string answer;
    if (test::eventually([&] { return program_->has_output(); }, longest_answer)) answer = program_->line();
    if (!answer.empty()) return answer;
    program_.reset();
    return "failed no_answer";
  }

  void start() {
    const std::string timeout = std::to_string(options_.session_timeout.count());
    const std::string data = "worker-" + std::to_string(options_.process) + ":1";
    std::vector<std::string> words{"--pdeathsig", "KILL"};
    if (options_.library == "kazoo")
      words.insert(words.end(), {ZKLOCK_PYTHON, "-B", ZKLOCK_FOREIGN_KAZOO});
    else
      words.insert(words.end(), {"java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
                                 ZKLOCK_CURATOR_PEERS ":" ZKLOCK_CURATOR_RECIPES_JAR, "ForeignPeer"});
    words.insert(words.end(), {options_.connect_string, timeout, data});
    program_.emplace("setpriv", std::move(words));
  }

  /// An operator adds contenders to the other mutexes that Kazoo does not know as such. Its locks for readers and
  /// writers, and its semaphores, have other nodes than Curator's.
  std::string some_line() {
    constexpr std::array kinds{"confirmed", "silent", "mutex", "silent_rw", "silent_single", "confirmed_single"};
    for (;;) {
      std::string line = locks + std::string{kinds[below(kinds.size())]} + std::to_string(below(lines));
      if (options_.library == "kazoo" ? is_kept_mutex(line) : !has_kazoos_names(line)) return line;
    }
  }

  /// By which lock of its library it takes that one.
  std::string some_class(const std::string& line) {
    if (line.find("_rw") != std::string::npos) return below(3) == 0 ? "write" : "read";
    if (line.find("_single") != std::string::npos) return "single";
    return has_kazoos_names(line) ? "kazoo" : "curator";
  }

  /// Few turns, so that the users may keep what they keep. After a failure, whatever it has left goes with its session.
  void take_turn() {
    std::this_thread::sleep_for(milliseconds{below(200)});
    const std::string line = some_line();
    const std::int64_t operation = ++operations_;
    constexpr std::array limits{20ms, 1'000ms, 20'000ms, 20'000ms};
    const milliseconds limit = limits[below(limits.size())];
    note(Event::invoked, operation, line, 0, options_.library);
    const std::string by = some_class(line);
    const std::string answer = ask("acquire " + by + " " + line + " " + std::to_string(limit.count()));
    constexpr std::string_view granted = "granted ";
    bool is_well = answer == "timed_out";
    if (answer.starts_with(granted))
      is_well = hold(operation, line, std::stoll(answer.substr(granted.size())),
                     by == "read" ? Share::with_readers : Share::alone);
    else
      note(Event::refused, operation, line, 0, is_well ? "timed_out" : "failed");
    note(Event::finished, operation, line, 0, {});
    if (!is_well && program_ && ask("renew") != "yes") program_.reset();
  }

  /// Uses the resource as a lock user does. False: the release has failed.
  bool hold(std::int64_t operation, const std::string& line, std::int64_t token, Share share) {
    log_.write({.event = Event::granted,
                .process = options_.process,
                .operation = operation,
                .lock = line,
                .token = token,
                .number = static_cast<int>(share)});
    const bool is_inside = access_.enter(line, token, share, operation);
    if (ask("mark") == "no")
      note(Event::lost, operation, line, token, {});
    else
      std::this_thread::sleep_for(milliseconds{below(20)});
    if (is_inside) access_.leave(line, token);
    note(Event::releasing, operation, line, token, {});
    const bool is_released = ask("release") == "yes";
    note(Event::released, operation, line, token, "dropped");
    return is_released;
  }

  void note(Event event, std::int64_t operation, const std::string& line, std::int64_t token,
            const std::string& reason) const {
    log_.write({.event = event,
                .process = options_.process,
                .operation = operation,
                .lock = line,
                .token = token,
                .reason = reason});
  }

  ForeignUserOptions options_;
  Log log_{options_.log};
  std::mt19937_64 random_;
  Access access_;
  std::optional<test::Process> program_{};
  std::int64_t operations_ = 0;
  std::atomic<bool> closing_time_{false};
};

}  // namespace

std::vector<std::string> find_libraries() {
  std::vector<std::string> all;
  for (const std::string library : {"curator", "kazoo"}) {
    if (is_here(library))
      all.push_back(library);
    else
      std::printf("note: no foreign users with %s: it is not here, or what it runs on\n", library.c_str());
  }
  return all;
}

int be_foreign_user(const ForeignUserOptions& options) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return ForeignUser{options}.run();
}

}  // namespace zklock::chaos

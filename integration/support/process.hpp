// A program as a child process, with pipes for its standard streams.
#pragma once

#include "await.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zklock::test {

/// The destructor kills the program if it still runs. Waits last at most `limit`, then throw std::runtime_error.
class Process {
 public:
  static constexpr std::chrono::milliseconds limit = 60s;

  /// The program is looked for in PATH. `words` are without its name. Its environment is `environment` and PATH only.
  explicit Process(const std::string& program, std::vector<std::string> words,
                   std::vector<std::string> environment = {}) {
    words.insert(words.begin(), program);
    environment.push_back("PATH=" + std::string{::getenv("PATH")});
    auto arguments = pointers(words);
    auto variables = pointers(environment);
    const Pipe input = make_pipe();
    const Pipe output = make_pipe();
    const Pipe errors = make_pipe();
    posix_spawn_file_actions_t actions;
    check(::posix_spawn_file_actions_init(&actions));
    check(::posix_spawn_file_actions_adddup2(&actions, input.reading, STDIN_FILENO));
    check(::posix_spawn_file_actions_adddup2(&actions, output.writing, STDOUT_FILENO));
    check(::posix_spawn_file_actions_adddup2(&actions, errors.writing, STDERR_FILENO));
    check(::posix_spawnp(&pid_, program.c_str(), &actions, nullptr, arguments.data(), variables.data()));
    ::posix_spawn_file_actions_destroy(&actions);
    for (const int theirs : {input.reading, output.writing, errors.writing}) ::close(theirs);
    input_ = input.writing;
    output_ = output.reading;
    errors_ = errors.reading;
    process_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    check(process_ >= 0 ? 0 : errno);
  }
  ~Process() {
    if (pid_ != 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    for (const int descriptor : {input_, output_, errors_, process_})
      if (descriptor >= 0) ::close(descriptor);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }
  /// Writes a line of its input.
  void say(std::string line) const {
    line += '\n';
    check(::write(input_, line.data(), line.size()) == static_cast<ssize_t>(line.size()) ? 0 : errno);
  }
  void end_input() { ::close(std::exchange(input_, -1)); }
  [[nodiscard]] bool has_ended() const {
    pollfd request{process_, POLLIN, 0};
    return ::poll(&request, 1, 0) == 1;
  }
  /// The exit status as the shell has it, 128 + n for signal n.
  [[nodiscard]] int wait() {
    wait_ready(process_, "its end");
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  /// Whether line() has something to read.
  [[nodiscard]] bool has_output() const {
    pollfd request{output_, POLLIN, 0};
    return ::poll(&request, 1, 0) == 1;
  }
  /// One line of its output, or of the command's, without the end of the line.
  [[nodiscard]] std::string line() { return line_of(output_, "a line of output"); }
  [[nodiscard]] std::string error_line() { return line_of(errors_, "a line of errors"); }
  /// Everything up to the end of its output.
  [[nodiscard]] std::string rest() { return rest_of(output_); }
  [[nodiscard]] std::string errors() { return rest_of(errors_); }

 private:
  static void check(int error) {
    if (error != 0) throw std::system_error{error, std::generic_category(), "a child process"};
  }
  static std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (std::string& text : strings) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  }
  struct Pipe {
    int reading;
    int writing;
  };
  static Pipe make_pipe() {
    std::array<int, 2> ends{};
    check(::pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno);
    return {ends[0], ends[1]};
  }
  static void wait_ready(int descriptor, const std::string& what) {
    pollfd request{descriptor, POLLIN, 0};
    if (::poll(&request, 1, static_cast<int>(limit.count())) != 1)
      throw std::runtime_error{"waited in vain for " + what + " of a child process"};
  }
  static bool get(int descriptor, char& character, const std::string& what) {
    wait_ready(descriptor, what);
    return ::read(descriptor, &character, 1) == 1;
  }
  static std::string line_of(int descriptor, const std::string& what) {
    std::string line;
    for (char next = 0; get(descriptor, next, what) && next != '\n';) line += next;
    return line;
  }
  static std::string rest_of(int descriptor) {
    std::string text;
    for (char next = 0; get(descriptor, next, "the end of the output");) text += next;
    return text;
  }

  pid_t pid_ = 0;  // 0: reaped
  int process_ = -1;
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
};

}  // namespace zklock::test

#include "command.hpp"

#include "failure.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zklock::tools {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  std::ranges::transform(strings, std::back_inserter(result), [](std::string& text) { return text.data(); });
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const Command::Environment& more) {
  std::vector<std::string> result;
  for (const auto& [name, value] : more) result.push_back(name + "=" + value);
  const auto is_replaced = [&](std::string_view entry) {
    return std::ranges::any_of(more, [&](const auto& pair) { return entry.starts_with(pair.first + "="); });
  };
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!is_replaced(*entry)) result.emplace_back(*entry);
  return result;
}

/// Between fork and exec: other threads may hold any lock, so system calls only.
[[noreturn]] void become(char** words, char** environment, const sigset_t& mask, pid_t parent, int report_to) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(status::unavailable);  // it died before it could be heard
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execvpe(words[0], words, environment);
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(report_to, &error, sizeof error);
  ::_exit(status::not_found);
}

[[noreturn]] void throw_errno(const char* what) { throw std::system_error{errno, std::generic_category(), what}; }

/// Why exec failed; 0 if it did not: then the kernel has closed the other end.
int receive_error(int descriptor) {
  int error = 0;
  while (::read(descriptor, &error, sizeof error) < 0 && errno == EINTR) continue;
  ::close(descriptor);
  return error;
}

}  // namespace

Command::Command(std::vector<std::string> words, const Environment& more_environment, const sigset_t& mask) {
  auto environment = environment_with(more_environment);
  auto word_pointers = pointers(words);
  auto environment_pointers = pointers(environment);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw_errno("pipe");
  const pid_t us = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) become(word_pointers.data(), environment_pointers.data(), mask, us, pipe[1]);
  ::close(pipe[1]);
  if (pid_ < 0) throw_errno("fork");
  const int error = receive_error(pipe[0]);
  if (error == 0) return;
  ::waitpid(pid_, nullptr, 0);
  throw Failure{error == ENOENT ? status::not_found : status::cannot_execute, words[0] + ": " + std::strerror(error)};
}

Command::~Command() {
  if (exit_status()) return;
  signal(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Command::signal(int number) const {
  if (!status_) ::kill(pid_, number);  // not reaped, so the number is still its own
}

bool Command::in_our_process_group() const { return ::getpgid(pid_) == ::getpgrp(); }

std::optional<int> Command::exit_status() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
    status_ = WIFSIGNALED(status) ? status::of_signal(WTERMSIG(status)) : WEXITSTATUS(status);
  return status_;
}

}  // namespace zklock::tools

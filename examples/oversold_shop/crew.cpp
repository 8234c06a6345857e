#include "crew.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shop {
namespace {

void check(int error, const char* what) {
  if (error != 0) throw std::system_error{error, std::generic_category(), what};
}

struct Pipe {
  int reading = -1;
  int writing = -1;
};

// The pipe's descriptors are above those that the workers use for its ends, so that none is overwritten on the way.
Pipe make_pipe() {
  std::array<int, 2> ends{};
  check(::pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno, "pipe");
  for (int& end : ends) {
    const int moved = ::fcntl(end, F_DUPFD_CLOEXEC, 10);
    check(moved >= 0 ? 0 : errno, "fcntl");
    ::close(std::exchange(end, moved));
  }
  return {ends[0], ends[1]};
}

std::vector<std::string> arguments(const WorkerOptions& options) {
  std::vector<std::string> words{"zklock_oversold_shop", "worker"};
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  add("--number", std::to_string(options.number));
  add("--parent", std::to_string(options.parent));
  add("--stock-file", options.stock_file);
  add("--ledger", options.ledger);
  add("--connect", options.connect);
  add("--lock", options.lock);
  add("--stop-at", std::to_string(options.stop_at));
  return words;
}

pid_t spawn(const WorkerOptions& options, int gate, int messages) {
  auto words = arguments(options);
  std::vector<char*> pointers;
  std::ranges::transform(words, std::back_inserter(pointers), [](std::string& word) { return word.data(); });
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  check(::posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
  pid_t pid = 0;
  int error = ::posix_spawn_file_actions_adddup2(&actions, gate, starting_gate);
  if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions, messages, message_pipe);
  if (error == 0) error = ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  check(error, "start a worker");
  return pid;
}

}  // namespace

Crew::Crew(const std::vector<WorkerOptions>& workers) {
  const Pipe gate = make_pipe();
  const Pipe messages = make_pipe();
  gate_ = gate.writing;
  messages_ = messages.reading;
  for (const WorkerOptions& options : workers)
    members_.push_back({options.number, spawn(options, gate.reading, messages.writing), false});
  ::close(gate.reading);
  ::close(messages.writing);
}

Crew::~Crew() {
  for (const Member& member : members_)
    if (member.pid != 0) ::kill(member.pid, SIGKILL);
  for (const Member& member : members_)
    if (member.pid != 0) ::waitpid(member.pid, nullptr, 0);
  if (gate_ >= 0) ::close(gate_);
  ::close(messages_);
}

void Crew::open_gate() { ::close(std::exchange(gate_, -1)); }

std::optional<Message> Crew::next_message(std::chrono::milliseconds wait) {
  pollfd request{messages_, POLLIN, 0};
  if (::poll(&request, 1, static_cast<int>(wait.count())) <= 0) return std::nullopt;
  Message message;
  if (::read(messages_, &message, sizeof message) != sizeof message)
    return std::nullopt;  // end of the pipe: all workers have left
  return message;
}

void Crew::kill(int worker) {
  for (Member& member : members_) {
    if (member.number != worker || member.pid == 0) continue;
    member.killed = true;
    ::kill(member.pid, SIGKILL);
  }
}

int Crew::running() {
  int count = 0;
  for (Member& member : members_) {
    if (member.pid == 0) continue;
    int status = 0;
    if (::waitpid(member.pid, &status, WNOHANG) == 0) {
      ++count;
      continue;
    }
    member.pid = 0;
    if (member.killed ? WIFSIGNALED(status) : status == 0) continue;
    throw std::runtime_error{"worker " + std::to_string(member.number) +
                             (WIFSIGNALED(status) ? " was ended by signal " + std::to_string(WTERMSIG(status))
                                                  : " failed with status " + std::to_string(WEXITSTATUS(status)))};
  }
  return count;
}

}  // namespace shop

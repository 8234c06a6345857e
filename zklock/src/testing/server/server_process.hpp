// A process that does not outlive its owner.
#pragma once

#include "descriptor.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace zklock::testing {

/// A process that can be started and ended repeatedly, and its directory.
///
/// It runs below a guard: a shell that the owner directs over a socket. However the owner ends, the kernel closes the
/// socket. Then the guard kills the process and removes the directory. That needs no signal handler, no
/// PR_SET_PDEATHSIG (which follows the thread that forked, not its process) and no time limit.
///
/// Errors: std::runtime_error. Threads: one thread at a time. The destructor ends everything and leaves no child
/// process.
class ServerProcess {
 public:
  /// Starts only the guard, which creates the directory: so the directory never exists without a guard. The name must
  /// be new. The command's output will go to log_file().
  ServerProcess(std::filesystem::path directory, const std::vector<std::string>& command);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  /// Starts the process again; it must not be started.
  void start();
  /// Started and not yet reaped: the process may have ended on its own.
  [[nodiscard]] bool started() const noexcept { return bool{process_}; }
  [[nodiscard]] bool running() const { return started() && !wait_end(Deadline{}); }
  [[nodiscard]] int pid() const noexcept { return pid_; }

  /// Sends a signal to a process that is started; does nothing if it has ended.
  void signal(int number) const;
  /// Waits until every thread of the process has stopped after SIGSTOP. False: the deadline passed first.
  [[nodiscard]] bool wait_stopped(Deadline deadline) const;
  /// Waits for the end of the process. False: the deadline passed first.
  [[nodiscard]] bool wait_end(Deadline deadline) const;
  /// Reaps the process, after wait_end. Returns the exit status as the shell has it, 128 + n for signal n.
  int reap();

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
  [[nodiscard]] std::filesystem::path log_file() const { return directory_ / "server.log"; }

 private:
  [[nodiscard]] int order(std::string_view word);
  [[nodiscard]] int answer();
  void end_guard() noexcept;

  std::filesystem::path directory_;
  Descriptor socket_;  // to the guard
  int guard_pid_ = 0;
  int pid_ = 0;
  Descriptor process_;  // a pidfd: it can be polled, and the reuse of a process id does not affect it
};

}  // namespace zklock::testing

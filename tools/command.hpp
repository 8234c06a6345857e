// The command that runs under the lock.
#pragma once

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace zklock::tools {

/// A child process in our own process group, with our terminal and standard streams. It cannot outlive us: the kernel
/// kills it when we die, and the destructor if it still runs (a set-user-ID program alone escapes the first).
class Command {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  /// Call it on a thread that lives as long as the process: the kernel takes the death of that thread for ours. Throws
  /// Failure: not found, or cannot be executed.
  Command(std::vector<std::string> words, const Environment& more_environment, const sigset_t& mask);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Does nothing once it has ended.
  void signal(int number) const;
  [[nodiscard]] bool in_our_process_group() const;
  /// Its exit status once it has ended, 128 + n for signal n.
  [[nodiscard]] std::optional<int> exit_status();

 private:
  pid_t pid_ = 0;
  std::optional<int> status_;
};

}  // namespace zklock::tools

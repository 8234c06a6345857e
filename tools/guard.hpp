// The process between `zklock run` and its command.
#pragma once

#include "options.hpp"

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

namespace zklock::tools {

/// What zklock asks of its guard, once it has sent the command's environment: "NAME=value" each, with a zero behind it.
struct Order {
  enum class Kind : std::uint8_t {
    keep,    ///< the lease goes on until `until`
    signal,  ///< pass `number` on
    end      ///< end the command
  };
  Kind kind = Kind::keep;
  int number = 0;
  bool from_terminal = false;  ///< which has told all of our process group
  std::int64_t until = 0;      ///< nanoseconds on zklock's Clock
};

/// What the guard says.
struct Report {
  enum class Kind : std::uint8_t {
    refused,  ///< the command cannot be executed: `number` says why, as errno
    ended     ///< with all that it has started; `number` is the command's exit status, 128 + n for signal n
  };
  Kind kind = Kind::ended;
  int number = 0;
  std::int64_t at = 0;  ///< the end: nanoseconds on zklock's Clock
};

/// Runs in a process of its own, forked for it while there was one thread. Starts the command, takes in whatever that
/// has started and left behind, and reports when all of it has ended.
///
/// It ends the command by SIGTERM, and what is left after `kill_after` by SIGKILL, when it is asked to, and on its own
/// when the lease has run out: so that a zklock that is stopped (SIGSTOP, or a debugger) does not keep its command at
/// work without the lock. When zklock has died it kills all at once; when the guard itself has died zklock does.
/// Signals from a terminal do not reach it.
///
/// `zklock` is a socket for packets; `mask` the command's signal mask.
[[noreturn]] void run_guard(int zklock, const RunOptions& options, const sigset_t& mask);

}  // namespace zklock::tools

// The process between `zklock run` and its command.
#pragma once

#include "options.hpp"

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

namespace zklock::tools {

/// What zklock orders of its guard. The first order is `keep`. The command's environment follows it, and then the other
/// orders. The environment's entries are "NAME=value", each with a terminating zero.
struct Order {
  enum class Kind : std::uint8_t {
    keep,    ///< the lease is valid until `until`
    signal,  ///< pass `number` on
    end      ///< end the command
  };
  Kind kind = Kind::keep;
  int number = 0;
  bool from_terminal = false;  ///< the terminal, which has signalled the whole process group
  std::int64_t until = 0;      ///< nanoseconds on zklock's Clock
};

/// What the guard reports.
struct Report {
  enum class Kind : std::uint8_t {
    refused,  ///< the command cannot be executed; `number` is the errno
    ended     ///< the command and all that it has started; `number` is its exit status, 128 + n for signal n
  };
  Kind kind = Kind::ended;
  int number = 0;
  std::int64_t at = 0;  ///< the end: nanoseconds on zklock's Clock
};

/// Runs in a process of its own, which is forked while there is only one thread. Starts the command, becomes the parent
/// of the processes that it starts and leaves behind, and reports when all of them have ended.
///
/// It ends the command by SIGTERM, and what is left after `kill_after` by SIGKILL. It does so when it is ordered to,
/// and on its own when the lease is over: so a zklock that is stopped (SIGSTOP, or a debugger) does not keep its
/// command running without the lock. When zklock has ended, the guard kills all at once; when the guard itself has
/// ended, zklock does. Signals from a terminal do not reach it.
///
/// `zklock` is a socket for packets; `mask` is the command's signal mask.
[[noreturn]] void run_guard(int zklock, const RunOptions& options, const sigset_t& mask);

}  // namespace zklock::tools

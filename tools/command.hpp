// The command that runs under the lock.
#pragma once

#include "options.hpp"

#include <zklock/clock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace zklock::tools {

struct Order;
struct Report;

/// The process for the guard (guard.hpp), forked before this program starts any thread. If the guard is killed, this
/// program becomes the parent of the processes that it leaves behind.
class GuardProcess {
 public:
  GuardProcess(const RunOptions& options, const sigset_t& mask);
  /// The guard notices the end, and kills the command and all that it has started.
  ~GuardProcess();
  GuardProcess(const GuardProcess&) = delete;
  GuardProcess& operator=(const GuardProcess&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// The socket on which this program talks to the guard.
  [[nodiscard]] int take_socket() noexcept { return std::exchange(socket_, -1); }

 private:
  int socket_ = -1;
  pid_t pid_ = 0;
};

/// The end of the command.
struct Ended {
  int status = 0;  ///< the command's own, 128 + n for signal n
  Clock::time_point at;
};

/// The command and all that it has started. They run in this program's process group, with its terminal and standard
/// streams. The command outlives neither this program nor the lease.
class Command {
 public:
  Command(const boost::asio::any_io_executor& executor, GuardProcess& guard);

  /// `environment` has entries of the form "NAME=value"; for `until` see keep_until.
  void start(std::string name, const std::vector<std::string>& environment, Clock::time_point until);
  /// Completes when all processes of the command have ended, or when it could not be started, which is reported on
  /// stderr. If the guard was killed, all of them are killed, and that is reported, too.
  boost::asio::awaitable<Ended> ended();

  /// Sets the time at which the command ends, unless a later call extends it.
  void keep_until(Clock::time_point until) const;
  void signal(int number, bool from_terminal) const;
  /// Sends SIGTERM, and later SIGKILL.
  void end() const;

 private:
  void tell(const Order& order) const;
  boost::asio::awaitable<std::optional<Report>> next_report();
  boost::asio::awaitable<void> kill_what_is_left();

  pid_t guard_;
  std::string name_;
  std::vector<pid_t> others_;  ///< what this program had started before the command: for example a server of its own
  int descriptor_;
  boost::asio::posix::stream_descriptor socket_;
};

}  // namespace zklock::tools

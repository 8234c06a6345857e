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

/// A process for the guard (guard.hpp), forked before this program starts any thread. What the guard leaves behind when
/// it is killed becomes this program's.
class GuardProcess {
 public:
  GuardProcess(const RunOptions& options, const sigset_t& mask);
  /// The guard hears of it, and kills the command with all that it has started.
  ~GuardProcess();
  GuardProcess(const GuardProcess&) = delete;
  GuardProcess& operator=(const GuardProcess&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Ours, to speak with it.
  [[nodiscard]] int take_socket() noexcept { return std::exchange(socket_, -1); }

 private:
  int socket_ = -1;
  pid_t pid_ = 0;
};

/// How it went.
struct Ended {
  int status = 0;  ///< the command's own, 128 + n for signal n
  Clock::time_point at;
};

/// The command and all that it has started, in our process group, with our terminal and standard streams. It cannot
/// outlive us, nor the lease.
class Command {
 public:
  Command(const boost::asio::any_io_executor& executor, GuardProcess& guard);

  /// `environment` is "NAME=value" each; for `until` see keep_until.
  void start(std::string name, const std::vector<std::string>& environment, Clock::time_point until);
  /// When all of it has ended, or it could not be started, which is said. If somebody has killed the guard all of it is
  /// killed, and that is said, too.
  boost::asio::awaitable<Ended> ended();

  /// Unless it is told so again, it ends then.
  void keep_until(Clock::time_point until) const;
  void signal(int number, bool from_terminal) const;
  /// SIGTERM, and later SIGKILL.
  void end() const;

 private:
  void tell(const Order& order) const;
  boost::asio::awaitable<std::optional<Report>> next_report();
  boost::asio::awaitable<void> kill_what_is_left();

  pid_t guard_;
  std::string name_;
  std::vector<pid_t> others_;  ///< what this program had started before the command: a server of its own
  int descriptor_;
  boost::asio::posix::stream_descriptor socket_;
};

}  // namespace zklock::tools

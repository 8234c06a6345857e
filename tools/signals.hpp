// Signals for which a coroutine can wait.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <csignal>
#include <initializer_list>

#include <sys/signalfd.h>

namespace zklock::tools {

/// Blocks the given signals for this thread and the threads that it starts, and reads them from a descriptor. Signals
/// that the program was told to ignore (nohup) stay ignored. The others stay blocked, so that no late signal replaces
/// the status with which the program is about to end.
///
/// This is a signalfd and not an asio::signal_set: it tells which process sent the signal, and installs no handler that
/// a forked child would run.
class Signals {
 public:
  Signals(const boost::asio::any_io_executor& executor, std::initializer_list<int> numbers);

  [[nodiscard]] boost::asio::awaitable<signalfd_siginfo> next();

  /// The signal mask that the program was started with.
  [[nodiscard]] const sigset_t& mask_before() const noexcept { return before_; }

 private:
  sigset_t before_{};
  boost::asio::posix::stream_descriptor descriptor_;
};

}  // namespace zklock::tools

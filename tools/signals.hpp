// Signals as something to wait for.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <csignal>
#include <initializer_list>

#include <sys/signalfd.h>

namespace zklock::tools {

/// Blocks the given signals for this thread and those it starts, and reads them from a descriptor. Those that the
/// program was told to ignore (nohup) stay ignored. They stay blocked, so that no late one replaces the status that the
/// program is about to end with.
///
/// A signalfd and not asio::signal_set: it tells who sent the signal, and installs no handler that a forked child would
/// run.
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

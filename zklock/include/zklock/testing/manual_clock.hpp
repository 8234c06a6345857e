// A clock that a test moves.
#pragma once

#include <zklock/clock.hpp>

#include <boost/asio/io_context.hpp>

#include <optional>

namespace zklock {
namespace asio = boost::asio;
}

namespace zklock::testing {

/// While it exists, zklock's Clock stands still except for advance(), and every zklock::Timer (<zklock/timer.hpp>) of
/// the process follows it. Timers of other types (asio::steady_timer) do not.
///
/// For one thread that runs one io_context by the functions below; everything runs on it, Clients included
/// (`Client{executor, config}`). A Client with its own thread would wait for a time that never comes, or spin. Only one
/// ManualClock at a time: a second one throws std::logic_error.
class ManualClock {
 public:
  /// Starts at an arbitrary time, which is always the same.
  ManualClock();
  ~ManualClock();
  ManualClock(const ManualClock&) = delete;
  ManualClock& operator=(const ManualClock&) = delete;

  [[nodiscard]] Clock::time_point now() const noexcept { return Clock::now(); }

  /// Lets `step` pass at once. Timers that are due then fire in the next run_ready, all together, as after a pause of
  /// the whole process.
  void advance(Clock::duration step) noexcept;

  /// Runs what is ready until nothing is ready any more.
  void run_ready(asio::io_context& context);

  /// Like run_ready; returns how long it is until the next timer is due. Empty: no timer is waiting.
  [[nodiscard]] std::optional<Clock::duration> until_next(asio::io_context& context);

  /// Runs what is ready and goes from one due timer to the next until `wait` has passed. That is what happens in `wait`
  /// in a process that is never late.
  void run_for(asio::io_context& context, Clock::duration wait);

 private:
  bool moved_ = true;
};

}  // namespace zklock::testing

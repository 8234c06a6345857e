// Time that passes when a test says so.
#pragma once

#include <zklock/clock.hpp>

#include <boost/asio/io_context.hpp>

#include <optional>

namespace zklock {
namespace asio = boost::asio;
}

namespace zklock::testing {

/// While it lives, zklock's Clock stands still but for advance(), and every zklock::Timer of the process follows it.
/// Timers of other types (asio::steady_timer) do not.
///
/// It is for one thread that runs one io_context by the functions below, on which everything lives, Clients included
/// (`Client{executor, config}`): a thread of its own would wait for a time that does not come, or spin. At most one at
/// a time; a second one throws std::logic_error.
class ManualClock {
 public:
  /// Starts at an arbitrary time, the same each time.
  ManualClock();
  ~ManualClock();
  ManualClock(const ManualClock&) = delete;
  ManualClock& operator=(const ManualClock&) = delete;

  [[nodiscard]] Clock::time_point now() const noexcept { return Clock::now(); }

  /// Lets `step` pass at once. Timers that are due then fire in the next run_ready: all together, as after a pause of
  /// the whole process.
  void advance(Clock::duration step) noexcept;

  /// Runs what is ready until nothing is.
  void run_ready(asio::io_context& context);

  /// As run_ready, and says how long it is until the next timer is due; nothing: nobody waits.
  [[nodiscard]] std::optional<Clock::duration> until_next(asio::io_context& context);

  /// Runs what is ready and goes from one due timer to the next until `wait` has passed: what happens in `wait` on a
  /// process that is never late.
  void run_for(asio::io_context& context, Clock::duration wait);

 private:
  bool moved_ = true;
};

}  // namespace zklock::testing

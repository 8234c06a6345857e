#include "watchdog.hpp"

#include "support/processor.hpp"

#include <zklock/timer.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <memory>

#include <poll.h>

namespace zklock::chaos {
namespace {

using namespace std::chrono_literals;
using test::processor_time_of_this_thread;
using test::time_without_processor;

constexpr auto period = 20ms;
constexpr auto tolerance = 50ms;
constexpr auto trust_worth_a_line = 50ms;  // of more trust

std::int64_t in_milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

}  // namespace

/// No other thread takes part: one that waits for a processor would seem to be the I/O thread's fault.
struct Watchdog::Ticks : std::enable_shared_from_this<Ticks> {
  Ticks(const Client& client, const Log& l, int p) : timer{client.get_executor()}, log{l}, process{p} {}

  /// The thread may lose the processor at any line here. So its waits are counted from before the timer is set until
  /// after its lateness is known: one just before or after may be excused, too.
  void tick() {
    const auto waited = time_without_processor();
    const auto written = Log::time_in_writes();
    const auto used = processor_time_of_this_thread();
    timer.expires_after(period);
    timer.async_wait([=, self = shared_from_this()](error_code error) {
      if (error || self->over) return;
      if (const auto seen = Clock::now() - self->timer.expiry(); seen > tolerance) {
        // The greater, not the sum: a write may wait for the processor, too.
        const auto late = seen - std::max(time_without_processor() - waited, Log::time_in_writes() - written);
        if (late > tolerance)
          self->log.write({.event = Event::stalled,
                           .process = self->process,
                           .token = in_milliseconds(seen),
                           .number = in_milliseconds(late),
                           .limit = in_milliseconds(processor_time_of_this_thread() - used)});
      }
      self->tick();
    });
  }

  Timer timer;
  const Log& log;
  int process;
  std::atomic<bool> over{false};
};

Watchdog::Watchdog(const Client& client, const Log& log, int process)
    : client_{client},
      log_{log},
      process_{process},
      ticks_{std::make_shared<Ticks>(client, log, process)},
      thread_{[this] { run(); }} {
  asio::post(client.get_executor(), [ticks = ticks_] { ticks->tick(); });
}

Watchdog::~Watchdog() {
  ticks_->over = true;
  over_ = true;
  thread_.join();
}

/// Reads the machine's clock first: a process that is paused in between then seems to trust itself too little.
void Watchdog::note_trust() {
  const Session session = client_.session();
  const std::int64_t now = now_in_microseconds();
  const auto valid_until = session.valid_until();
  const auto read_at = Clock::now();
  if (valid_until <= read_at || (session.id() == trusted_ && valid_until < trusted_until_ + trust_worth_a_line)) return;
  trusted_ = session.id();
  trusted_until_ = valid_until;
  log_.write({.event = Event::trusts,
              .process = process_,
              .session = trusted_,
              .number = now + std::chrono::duration_cast<std::chrono::microseconds>(valid_until - read_at).count()});
}

void Watchdog::run() {
  while (!over_) {
    note_trust();
    const auto asleep = Clock::now();
    ::poll(nullptr, 0, static_cast<int>(period.count()));
    const auto overslept = Clock::now() - asleep - period;  // nothing of the library's is in this
    if (overslept > tolerance)
      log_.write({.event = Event::late, .process = process_, .number = in_milliseconds(overslept)});
  }
}

}  // namespace zklock::chaos

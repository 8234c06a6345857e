#include "watchdog.hpp"

#include "support/processor.hpp"

#include <boost/asio/post.hpp>

#include <memory>

#include <poll.h>

namespace zklock::chaos {
namespace {

using namespace std::chrono_literals;
using test::time_taken_from_machine;
using test::time_without_processor;

constexpr auto period = 20ms;
constexpr auto tolerance = 50ms;
constexpr auto trust_worth_a_line = 50ms;  // of more trust

}  // namespace

struct Watchdog::Shared {
  Shared(const Log& l, int p) : log{l}, process{p} {}
  void note(Event event, std::chrono::nanoseconds late) const {
    const auto number = std::chrono::duration_cast<std::chrono::milliseconds>(late).count();
    log.write({.event = event, .process = process, .number = number});
  }
  const Log& log;
  int process;
  std::atomic<bool> awaited{false};
  std::chrono::nanoseconds waited{0};  // of the I/O thread
};

Watchdog::Watchdog(const Client& client, const Log& log, int process)
    : client_{client}, shared_{std::make_shared<Shared>(log, process)}, thread_{[this] { run(); }} {}

Watchdog::~Watchdog() {
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
  shared_->log.write(
      {.event = Event::trusts,
       .process = shared_->process,
       .session = trusted_,
       .number = now + std::chrono::duration_cast<std::chrono::microseconds>(valid_until - read_at).count()});
}

void Watchdog::run() {
  while (!over_) {
    note_trust();
    const auto asleep = Clock::now();
    ::poll(nullptr, 0, static_cast<int>(period.count()));
    const auto overslept = Clock::now() - asleep - period;  // nothing of the library's is in this
    if (overslept > tolerance) shared_->note(Event::late, overslept);
    if (shared_->awaited.exchange(true)) continue;
    asio::post(client_.get_executor(), [shared = shared_, asked = Clock::now(), taken = time_taken_from_machine()] {
      const auto waited = time_without_processor();
      const auto late =
          Clock::now() - asked - (waited - std::exchange(shared->waited, waited)) - (time_taken_from_machine() - taken);
      shared->awaited = false;
      if (late > tolerance) shared->note(Event::stalled, late);
    });
  }
}

}  // namespace zklock::chaos

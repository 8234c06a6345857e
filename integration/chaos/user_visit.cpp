// What a user does while it holds locks, and what it notes.
#include "user.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace zklock::chaos {

using namespace std::chrono_literals;
using test::Pending;

namespace {

bool is_lost(error_code marked) { return marked == Error::no_node || marked == LockError::lock_lost; }

}  // namespace

std::string reason_of(error_code error) {
  std::string text = error ? error.message() : "ok";
  text = text.substr(0, text.find_first_of(":;,("));
  std::ranges::replace(text, ' ', '_');
  return text;
}

/// A holder without a token has lost the lock already.
void User::note_granted(const Held& held) {
  if (held.token == 0) return note(Event::refused, held.operation, "lost");
  workplace_.log.write({.event = Event::granted,
                        .process = workplace_.process,
                        .operation = held.operation,
                        .lock = held.lock,
                        .token = held.token,
                        .number = static_cast<int>(held.share)});
}

/// Uses the resource that the locks protect.
void User::visit(const std::vector<Held>& all) {
  std::vector<const Held*> inside;
  for (const Held& held : all)
    if (held.token != 0 && access_.enter(held.lock, held.token, held.share, held.operation)) inside.push_back(&held);
  for (const Held& held : all)
    if (held.mark && is_lost(held.mark())) note(Event::lost, held);
  for (const Held& held : all) note_trust(held);
  stay(all);
  for (const Held* held : inside) access_.leave(held->lock, held->token);
}

/// Mostly no time at all, sometimes longer than a session lasts without its servers; no longer than the locks are held.
void User::stay(const std::vector<Held>& all) {
  const bool is_long = below(1'000) < workplace_.long_stays;
  const Held& first = all.front();
  if (first.wait_lost && (is_long || below(10) == 0)) {
    const auto end = Clock::now() + (is_long ? 2 * workplace_.session_timeout : std::chrono::milliseconds{below(30)});
    auto told = std::make_shared<Pending<>>();
    Record record{.event = Event::listens,
                  .process = workplace_.process,
                  .operation = first.operation,
                  .lock = first.lock,
                  .token = first.token};
    workplace_.log.write(record);
    record.event = Event::lost;
    first.wait_lost([told, tell = told->handler(), record, &log = workplace_.log](error_code error) mutable {
      if (!error) log.write(record);
      tell(error);
    });
    while (Clock::now() < end && !told->ready(5ms) && !workplace_.closing_time) note_trust(first);
  }
  for (const Held& held : all)
    if (held.is_lost && held.is_lost()) note(Event::lost, held);
}

/// Reads the machine's clock first: a process that is paused in between then seems to trust itself too little.
void User::note_trust(const Held& held) {
  if (!held.valid_until) return;
  const std::int64_t now = now_in_microseconds();
  const auto valid_until = held.valid_until();
  const auto read_at = Clock::now();
  if (valid_until <= read_at) return;
  const std::int64_t until = now + std::chrono::duration_cast<std::chrono::microseconds>(valid_until - read_at).count();
  constexpr std::int64_t worth_a_line = 10'000;
  if (until < last_trust_ + worth_a_line) return;
  last_trust_ = until;
  workplace_.log.write({.event = Event::trusts,
                        .process = workplace_.process,
                        .operation = held.operation,
                        .lock = held.lock,
                        .token = held.token,
                        .number = until});
}

void User::release(Lease lease, const Held& held) {
  note(Event::releasing, held);
  std::string outcome = "dropped";
  if (below(2) == 0) {
    Pending<> done;
    lease.async_release(done.handler());
    outcome = reason_of(std::get<0>(done.get(for_ever)));
  }
  note(Event::released, held, outcome);  // before the lease is destroyed
}

void User::note_invoked(std::int64_t operation, const std::string& kind, const std::string& lock,
                        std::chrono::milliseconds limit) {
  workplace_.log.write({.event = Event::invoked,
                        .process = workplace_.process,
                        .operation = operation,
                        .lock = lock,
                        .limit = limit == unlimited ? -1 : limit.count(),
                        .reason = kind});
}

void User::note(Event event, const Held& held, const std::string& reason) {
  workplace_.log.write({.event = event,
                        .process = workplace_.process,
                        .operation = held.operation,
                        .lock = held.lock,
                        .token = held.token,
                        .reason = reason});
}

void User::note(Event event, std::int64_t operation, const std::string& reason) {
  workplace_.log.write({.event = event, .process = workplace_.process, .operation = operation, .reason = reason});
}

}  // namespace zklock::chaos

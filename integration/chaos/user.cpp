#include "user_steps.hpp"

#include <zklock/timer.hpp>

#include <array>
#include <string_view>
#include <utility>

namespace zklock::chaos {

using namespace std::chrono_literals;
using test::Pending;

User::User(Workplace& workplace, std::uint64_t seed)
    : workplace_{workplace}, random_{seed}, access_{workplace.register_port, workplace.process} {}

void User::run() {
  constexpr std::array turns{&User::use_mutex,
                             &User::use_mutex,
                             &User::nest,
                             &User::read,
                             &User::read,
                             &User::write,
                             &User::downgrade,
                             &User::take_permits,
                             &User::use_several,
                             &User::use_semaphore_mutex,
                             &User::lead,
                             &User::stand,
                             &User::lead_by_body,
                             &User::use_kept,
                             &User::use_kept_read_write,
                             &User::use_kept_semaphore_mutex,
                             &User::give_watches_up};
  open_registry();
  while (!workplace_.closing_time) (this->*turns[below(turns.size())])();
  registry_.reset();
}

/// Half of all acquires wait until they are granted, so that a forgotten waiter is found out. Some of the others wait
/// for longer than any trouble may delay their turn; a refusal of these is found out, too.
std::chrono::milliseconds User::some_limit() {
  constexpr std::array waits{0ms, 20ms, 200ms, 1'000ms, 5'000ms, 20'000ms};
  return below(2) == 0 ? unlimited : waits[below(waits.size())];
}

std::string User::some_line(const std::string& kind) { return locks + kind + std::to_string(below(lines)); }

/// The C client puts its next ping off by each removal of a watch.
void User::give_watches_up() {
  std::vector<Watch> watches;
  for (int i = 0; i < 8; ++i) {
    const Session session = workplace_.client.session();
    if (!session) return;
    Pending<std::optional<Stat>, Watch> looked;
    session.async_exists_and_watch(std::string{locks} + "watched" + std::to_string(i), looked.handler());
    watches.push_back(std::move(std::get<2>(looked.get(for_ever))));
  }
  while (!watches.empty()) {
    watches.pop_back();
    Pending<> paused;
    Timer pace{workplace_.client.get_executor(), workplace_.session_timeout / 12};
    pace.async_wait(paused.handler());
    paused.get(for_ever);
  }
}

void User::use_mutex() {
  const std::string line = some_line("mutex");
  const std::int64_t operation = ++workplace_.operations;
  const InterProcessMutex mutex{workplace_.client, line};
  auto lease = acquire<Lease>(operation, "mutex", line,
                              [&](auto... limit_and_handler) { mutex.async_acquire(std::move(limit_and_handler)...); });
  if (lease) use(std::move(*lease), line, Share::alone, operation);
}

void User::nest() {
  const std::string line = some_line("mutex");
  const std::int64_t operation = ++workplace_.operations;
  InterProcessMutex mutex{workplace_.client, line};
  if (!acquire_blocking(operation, "nested", line, [&](auto... limit) { return mutex.acquire(limit...); })) return;
  const Held held = held_by(mutex, line, Share::alone, operation);
  note_granted(held);
  bool twice = false;
  try {
    twice = mutex.acquire(0ms);
  } catch (const boost::system::system_error&) {  // lost already
    note(Event::lost, held);
  }
  visit({held});
  if (twice) release_blocking(held, [&] { mutex.release(); });
  release_blocking(held, [&] { mutex.release(); });
  note(Event::finished, operation);
}

void User::read() {
  const std::string line = some_line(below(4) == 0 ? "silent_rw" : "rw");
  const std::int64_t operation = ++workplace_.operations;
  const InterProcessReadWriteLock lock{workplace_.client, line};
  auto lease = acquire<Lease>(operation, "read", line, [&](auto... limit_and_handler) {
    lock.read_lock().async_acquire(std::move(limit_and_handler)...);
  });
  if (lease) use(std::move(*lease), line, Share::with_readers, operation);
}

void User::write() {
  const std::string line = some_line(below(4) == 0 ? "silent_rw" : "rw");
  const std::int64_t operation = ++workplace_.operations;
  const InterProcessReadWriteLock lock{workplace_.client, line};
  auto lease = acquire<Lease>(operation, "write", line, [&](auto... limit_and_handler) {
    lock.write_lock().async_acquire(std::move(limit_and_handler)...);
  });
  if (lease) use(std::move(*lease), line, Share::alone, operation);
}

void User::downgrade() {
  const std::string line = some_line("rw");
  const std::int64_t operation = ++workplace_.operations;
  const InterProcessReadWriteLock lock{workplace_.client, line};
  const Owner owner = Owner::make();
  auto writing = acquire<Lease>(operation, "write", line, [&](auto... limit_and_handler) {
    lock.write_lock().async_acquire(owner, std::move(limit_and_handler)...);
  });
  if (!writing) return;
  const Held writer = held_by(*writing, line, Share::alone, operation);
  note_granted(writer);
  visit({writer});
  const std::int64_t next = ++workplace_.operations;
  auto reading = acquire<Lease>(next, "downgrade", line, [&](auto... limit_and_handler) {
    lock.read_lock().async_acquire(owner, std::move(limit_and_handler)...);
  });
  std::optional<Held> reader;
  if (reading) {
    reader = held_by(*reading, line, Share::with_readers, next);
    note_granted(*reader);
  }
  release(std::move(*writing), writer);
  note(Event::finished, operation);
  if (!reading) return;
  visit({*reader});
  release(std::move(*reading), *reader);
  note(Event::finished, next);
}

void User::take_permits() {
  const std::string line = some_line("permits");
  const std::int64_t operation = ++workplace_.operations;
  const InterProcessSemaphore semaphore{workplace_.client, line, permits};
  const auto quantity = static_cast<std::int32_t>(1 + below(permits));
  auto leases = acquire<std::vector<Lease>>(operation, "permits", line, [&](auto... limit_and_handler) {
    semaphore.async_acquire_many(quantity, std::move(limit_and_handler)...);
  });
  if (!leases) return;
  std::vector<Held> all;
  for (Lease& lease : *leases) all.push_back(held_by(lease, line, Share::permit, operation));
  for (const Held& held : all) note_granted(held);
  visit(all);
  for (std::size_t i = 0; i < all.size(); ++i) release(std::move((*leases)[i]), all[i]);
  note(Event::finished, operation);
}

void User::use_semaphore_mutex() {
  constexpr std::array kinds{"single", "single", "single", "single", "silent_single", "confirmed_single"};
  const std::string line = some_line(kinds[below(kinds.size())]);
  InterProcessSemaphoreMutex mutex{workplace_.client, line};
  use_once(mutex, "single", line);
}

void User::use_once(InterProcessSemaphoreMutex& mutex, const std::string& kind, const std::string& line) {
  const std::int64_t operation = ++workplace_.operations;
  if (below(2) == 0) {
    auto lease = acquire<Lease>(operation, kind, line, [&](auto... limit_and_handler) {
      mutex.async_acquire(std::move(limit_and_handler)...);
    });
    if (lease) use(std::move(*lease), line, Share::alone, operation);
    return;
  }
  if (!acquire_blocking(operation, kind, line, [&](auto... limit) { return mutex.acquire(limit...); })) return;
  const Held held{.lock = line,
                  .share = Share::alone,
                  .token = mutex.fencing_token(),
                  .operation = operation,
                  .is_lost = {},  // is_acquired_in_this_process() is false of a suspect one, too
                  .valid_until = {},
                  .mark = {},
                  .wait_lost = {}};
  note_granted(held);
  visit({held});
  release_blocking(held, [&] { mutex.release(); });
  note(Event::finished, operation);
}

void User::use_several() {
  const std::string one = some_line("mutex");
  const std::string other = some_line("rw");
  const std::int64_t operation = ++workplace_.operations;
  const InterProcessMutex mutex{workplace_.client, one};
  const InterProcessReadWriteLock lock{workplace_.client, other};
  const InterProcessMultiLock both{{lock.write_lock(), mutex}};
  auto lease = acquire<MultiLease>(operation, "several", one + "+" + other, [&](auto... limit_and_handler) {
    both.async_acquire(std::move(limit_and_handler)...);
  });
  if (!lease) return;
  std::vector<Held> all;
  for (std::size_t i = 0; i < 2; ++i) {
    auto& each = const_cast<Lease&>(lease->leases()[i]);  // async_wait_lost changes nothing
    all.push_back(held_by(each, i == 0 ? other : one, Share::alone, operation));
  }
  for (const Held& held : all) note_granted(held);
  visit(all);
  for (const Held& held : all) note(Event::releasing, held);
  Pending<> done;
  lease->async_release(done.handler());
  const std::string outcome = reason_of(std::get<0>(done.get(for_ever)));
  for (const Held& held : all) note(Event::released, held, outcome);
  note(Event::finished, operation);
}

void User::use(Lease lease, const std::string& line, Share share, std::int64_t operation) {
  const Held held = held_by(lease, line, share, operation);
  note_granted(held);
  visit({held});
  release(std::move(lease), held);
  note(Event::finished, operation);
}

}  // namespace zklock::chaos

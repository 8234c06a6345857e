#include "user.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace zklock::chaos {

using namespace std::chrono_literals;
using test::Pending;

User::User(Workplace& workplace, std::uint64_t seed)
    : workplace_{workplace}, random_{seed}, access_{workplace.register_port, workplace.process} {}

void User::run() {
  constexpr std::array turns{
      &User::use_mutex, &User::use_mutex, &User::nest,         &User::read,        &User::read,
      &User::write,     &User::downgrade, &User::take_permits, &User::use_several, &User::use_semaphore_mutex,
      &User::lead,      &User::use_kept};
  while (!workplace_.closing_time) (this->*turns[below(turns.size())])();
}

/// Half of all acquires wait until they are granted, so that a forgotten waiter is found out. Some of the others wait
/// for longer than any trouble may delay their turn; a refusal of these is found out, too.
std::chrono::milliseconds User::some_limit() {
  constexpr std::array waits{0ms, 20ms, 200ms, 1'000ms, 5'000ms, 20'000ms};
  return below(2) == 0 ? unlimited : waits[below(waits.size())];
}

std::string User::some_line(const std::string& kind) { return locks + kind + std::to_string(below(lines)); }

// ---- turns

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
    note_lost(held);
  }
  visit({held});
  if (twice) release_blocking(held, [&] { mutex.release(); });
  release_blocking(held, [&] { mutex.release(); });
  note(Event::finished, operation);
}

void User::read() {
  const std::string line = some_line("rw");
  const std::int64_t operation = ++workplace_.operations;
  const InterProcessReadWriteLock lock{workplace_.client, line};
  auto lease = acquire<Lease>(operation, "read", line, [&](auto... limit_and_handler) {
    lock.read_lock().async_acquire(std::move(limit_and_handler)...);
  });
  if (lease) use(std::move(*lease), line, Share::with_readers, operation);
}

void User::write() {
  const std::string line = some_line("rw");
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
  const std::string line = some_line("single");
  const std::int64_t operation = ++workplace_.operations;
  InterProcessSemaphoreMutex mutex{workplace_.client, line};
  if (below(2) == 0) {
    auto lease = acquire<Lease>(operation, "single", line, [&](auto... limit_and_handler) {
      mutex.async_acquire(std::move(limit_and_handler)...);
    });
    if (lease) use(std::move(*lease), line, Share::alone, operation);
    return;
  }
  if (!acquire_blocking(operation, "single", line, [&](auto... limit) { return mutex.acquire(limit...); })) return;
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
  for (const Held& held : all) note_releasing(held);
  Pending<> done;
  lease->async_release(done.handler());
  const std::string outcome = reason_of(std::get<0>(done.get(for_ever)));
  for (const Held& held : all)
    workplace_.log.write({.event = Event::released,
                          .process = workplace_.process,
                          .operation = operation,
                          .lock = held.lock,
                          .token = held.token,
                          .reason = outcome});
  note(Event::finished, operation);
}

/// The id is in the form of a lock's data, from which the judge knows whose node it is.
void User::lead() {
  const std::string line = some_line("latch");
  const std::int64_t operation = ++workplace_.operations;
  const LeaderLatch latch{workplace_.client, line, workplace_.client.client_id() + ":1"};
  auto leadership = acquire<Leadership>(
      operation, "latch", line, [&](auto... limit_and_handler) { latch.async_lead(std::move(limit_and_handler)...); });
  if (leadership) use(std::move(*leadership).into_lease(), line, Share::alone, operation);
}

/// Mostly a lock that few other processes want, and several times: a client keeps only what it has used alone.
void User::use_kept() {
  const bool is_silent = below(2) == 0;
  const std::string kind = is_silent ? "silent" : "confirmed";
  const std::uint64_t own = static_cast<std::uint64_t>(workplace_.process) % lines;
  const std::string line = locks + kind + std::to_string(below(4) == 0 ? below(lines) : own);
  InterProcessMutex mutex{workplace_.client,
                          line,
                          {.naming = has_kazoos_names(line) ? LockNaming::kazoo : LockNaming::curator,
                           .keep = kept_for,
                           .keeping = is_silent ? Keeping::silent : Keeping::confirmed}};
  for (std::uint64_t left = 1 + below(6); left > 0 && !workplace_.closing_time; --left) use_once(mutex, kind, line);
}

void User::use_once(InterProcessMutex& mutex, const std::string& kind, const std::string& line) {
  const std::int64_t operation = ++workplace_.operations;
  if (below(2) == 0) {
    auto lease = acquire<Lease>(operation, kind, line, [&](auto... limit_and_handler) {
      mutex.async_acquire(std::move(limit_and_handler)...);
    });
    if (lease) use(std::move(*lease), line, Share::alone, operation);
    return;
  }
  if (!acquire_blocking(operation, kind, line, [&](auto... limit) { return mutex.acquire(limit...); })) return;
  const Held held = held_by(mutex, line, Share::alone, operation);
  note_granted(held);
  visit({held});
  release_blocking(held, [&] { mutex.release(); });
  note(Event::finished, operation);
}

// ---- steps of a turn

template <class Result, class Start>
std::optional<Result> User::acquire(std::int64_t operation, const std::string& kind, const std::string& lock,
                                    Start start) {
  const auto limit = some_limit();
  const auto executor = workplace_.client.get_executor();
  const bool may_cancel = below(8) == 0;
  asio::cancellation_signal cancel;
  Pending<Result> pending;
  note_invoked(operation, kind, lock, limit);
  asio::dispatch(executor, [&] {
    auto handler = asio::bind_cancellation_slot(cancel.slot(), pending.handler());
    limit == unlimited ? start(std::move(handler)) : start(limit, std::move(handler));
  });
  if (may_cancel && !pending.ready(std::chrono::milliseconds{below(30)})) {
    Pending<> cancelled;
    asio::post(executor, [&, handler = cancelled.handler()]() mutable {
      cancel.emit(asio::cancellation_type::terminal);
      handler({});
    });
    cancelled.get(for_ever);
  }
  auto [error, result] = pending.get(for_ever);
  if (error) {
    note(Event::refused, operation, reason_of(error));
    note(Event::finished, operation);
    return std::nullopt;
  }
  return std::move(result);
}

template <class Block>
bool User::acquire_blocking(std::int64_t operation, const std::string& kind, const std::string& lock, Block block) {
  const auto limit = some_limit();
  note_invoked(operation, kind, lock, limit);
  error_code error = make_error_code(Error::timed_out);
  try {
    if (limit == unlimited) {
      block();
      return true;
    }
    if (block(limit)) return true;
  } catch (const boost::system::system_error& thrown) {
    error = thrown.code();
  }
  note(Event::refused, operation, reason_of(error));
  note(Event::finished, operation);
  return false;
}

template <class Holder>
User::Held User::held_by(Holder& holder, std::string lock, Share share, std::int64_t operation) {
  Held held{.lock = std::move(lock),
            .share = share,
            .token = holder.fencing_token(),
            .operation = operation,
            .is_lost = [&] { return holder.valid_until() <= Clock::now(); },
            .valid_until = [&] { return holder.valid_until(); },
            .mark = {},
            .wait_lost = [&](auto told) { holder.async_wait_lost(std::move(told)); }};
  held.mark = [this, &holder] {
    Pending<TransactionResults> done;
    workplace_.client.async_commit(holder.guard().set_data(marks, ""), done.handler());
    while (!done.ready(5ms))
      if (holder.valid_until() <= Clock::now()) return make_error_code(LockError::lock_lost);
    return std::get<0>(done.get());
  };
  return held;
}

void User::use(Lease lease, const std::string& line, Share share, std::int64_t operation) {
  const Held held = held_by(lease, line, share, operation);
  note_granted(held);
  visit({held});
  release(std::move(lease), held);
  note(Event::finished, operation);
}

template <class Release>
void User::release_blocking(const Held& held, Release release) {
  note_releasing(held);
  error_code error;
  try {
    release();
  } catch (const boost::system::system_error& thrown) {
    error = thrown.code();
  }
  workplace_.log.write({.event = Event::released,
                        .process = workplace_.process,
                        .operation = held.operation,
                        .lock = held.lock,
                        .token = held.token,
                        .reason = reason_of(error)});
}

}  // namespace zklock::chaos

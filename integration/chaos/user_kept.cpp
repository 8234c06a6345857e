// The turns with locks that the client keeps.
#include "user_steps.hpp"

#include <string_view>
#include <utility>

namespace zklock::chaos {

namespace {

/// How the users of the line keep it.
LockSettings settings_of(const std::string& line) {
  return {.naming = has_kazoos_names(line) ? LockNaming::kazoo : LockNaming::curator,
          .keep = kept_for,
          .keeping = is_kept_silent(line) ? Keeping::silent : Keeping::confirmed,
          .local_hand_overs = hand_overs_of(line)};
}

}  // namespace

void User::open_registry() {
  const std::string_view base = std::string_view{locks}.substr(0, std::string_view{locks}.size() - 1);
  const std::string last = locks + std::string{"silent_rw"} + std::to_string(lines - 1);
  registry_.emplace(workplace_.client, std::string{base}, settings_of(last));
}

/// Mostly one that few other processes want: a client keeps only what it has used alone.
std::string User::kept_line(const std::string& kind) {
  const std::uint64_t own = static_cast<std::uint64_t>(workplace_.process) % lines;
  return locks + kind + std::to_string(below(4) == 0 ? below(lines) : own);
}

/// Several times, as the next ones: what a client keeps it has used twice.
void User::use_kept() {
  const std::string kind = below(2) == 0 ? "silent" : "confirmed";
  const std::string line = kept_line(kind);
  InterProcessMutex mutex{workplace_.client, line, settings_of(line)};
  for (std::uint64_t left = 1 + below(6); left > 0 && !workplace_.closing_time; --left) use_once(mutex, kind, line);
}

/// Mostly reads. A registry has the same locks.
void User::use_kept_read_write() {
  const std::string line = kept_line("silent_rw");
  InterProcessReadWriteLock lock{workplace_.client, line, settings_of(line)};
  const bool writes = below(4) == 0;
  const std::string kind = writes ? "silent_write" : "silent_read";
  InterProcessMutex& mutex = writes ? lock.write_lock() : lock.read_lock();
  for (std::uint64_t left = 1 + below(6); left > 0 && !workplace_.closing_time; --left) {
    if (hand_overs_of(line) > 0 && below(2) == 0)
      use_by_name(kind, line, writes ? Isolation::write : Isolation::read);
    else
      use_once(mutex, kind, line, writes ? Share::alone : Share::with_readers);
  }
}

void User::use_kept_semaphore_mutex() {
  const std::string kind = below(2) == 0 ? "silent_single" : "confirmed_single";
  const std::string line = kept_line(kind);
  InterProcessSemaphoreMutex mutex{workplace_.client, line, settings_of(line)};
  for (std::uint64_t left = 1 + below(6); left > 0 && !workplace_.closing_time; --left) use_once(mutex, kind, line);
}

void User::use_by_name(const std::string& kind, const std::string& line, Isolation isolation) {
  const std::int64_t operation = ++workplace_.operations;
  const std::string name = line.substr(std::string_view{locks}.size());
  auto lease = acquire<Lease>(operation, kind, line, [&](auto... limit_and_handler) {
    registry_->async_lock(name, isolation, std::move(limit_and_handler)...);
  });
  const Share share = isolation == Isolation::write ? Share::alone : Share::with_readers;
  if (lease) use(std::move(*lease), line, share, operation);
}

void User::use_once(InterProcessMutex& mutex, const std::string& kind, const std::string& line, Share share) {
  const std::int64_t operation = ++workplace_.operations;
  if (below(2) == 0) {
    auto lease = acquire<Lease>(operation, kind, line, [&](auto... limit_and_handler) {
      mutex.async_acquire(std::move(limit_and_handler)...);
    });
    if (lease) use(std::move(*lease), line, share, operation);
    return;
  }
  if (!acquire_blocking(operation, kind, line, [&](auto... limit) { return mutex.acquire(limit...); })) return;
  const Held held = held_by(mutex, line, share, operation);
  note_granted(held);
  visit({held});
  release_blocking(held, [&] { mutex.release(); });
  note(Event::finished, operation);
}

}  // namespace zklock::chaos

#include "lock_set.hpp"

#include "queue_kind.hpp"
#include "thread_leases.hpp"

#include <zklock/connect_string.hpp>
#include <zklock/detail/existing.hpp>
#include <zklock/recipe_kit/blocking.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

namespace zklock::detail {

namespace {

using Servers = std::vector<std::pair<std::string, std::uint16_t>>;

/// Sorted: the order in which they were written does not matter.
Servers servers_of(const ClientHandle& client) {
  Servers servers;
  for (HostPort& each : parse_connect_string(client.config().connect_string).servers)
    servers.emplace_back(std::move(each.host), each.port);
  std::ranges::sort(servers);
  return servers;
}

/// Two that have a server in common are one ensemble, though one client may know more of its servers than another.
bool share_a_server(const Servers& ours, const Servers& theirs) {
  return std::ranges::any_of(ours, [&](const auto& server) { return std::ranges::binary_search(theirs, server); });
}

/// The order on one path: the owner of the write lock may acquire the read lock, but not the reverse.
int rank_of(LockKind kind) {
  switch (kind) {
    case LockKind::mutex: return 0;
    case LockKind::write: return 1;
    case LockKind::read: return 2;
    case LockKind::permit:
    case LockKind::latch: break;  // not a lock
  }
  return 0;
}

/// A lock's place in the order, which is the same in all processes.
struct Place {
  std::string path;  // at the server
  Servers servers;   // the same path may exist in several ensembles
  LockKind kind;
  const LockCore* core;
  std::size_t number;

  [[nodiscard]] auto key() const { return std::tuple{std::tie(path, servers), core->naming(), rank_of(kind), number}; }
  /// Locks of two clients, or of two namespaces of one client: their owners know nothing of each other.
  [[nodiscard]] bool waits_for(const Place& other) const {
    if (path != other.path || !share_a_server(servers, other.servers) || core == other.core) return false;
    return core->naming() == other.core->naming() && exclude_each_other(kind, other.kind);
  }
};

}  // namespace

LockSet::LockSet(std::vector<InterProcessMutex> locks) : locks_{std::move(locks)} {
  if (locks_.empty()) refuse(Error::bad_arguments, "a multi-lock without any lock");
  std::vector<Place> places;
  for (const InterProcessMutex& lock : locks_) {
    const LockCore& core = *lock.lock_->core();
    Place place{core.client().server_path(core.path()), servers_of(core.client()), lock.kind_, &core, places.size()};
    for (const Place& other : places)
      if (place.waits_for(other))
        refuse(Error::would_deadlock, "a multi-lock with two clients' locks of " + place.path);
    places.push_back(std::move(place));
  }
  std::ranges::sort(places, {}, &Place::key);
  for (const Place& place : places) order_.push_back(place.number);
}

InterProcessMutex LockSet::share(const InterProcessMutex& lock) {
  static_cast<void>(existing(lock.lock_));
  return InterProcessMutex{lock.lock_, lock.kind_, lock.settings_};
}

const ClientHandle& LockSet::client() const noexcept { return locks_.front().lock_->core()->client(); }

std::string LockSet::describe() const {
  std::string text = "locks";
  for (const InterProcessMutex& lock : locks_) text += ' ' + lock.path();
  return text;
}

void LockSet::refuse_to_block() const {
  for (const InterProcessMutex& lock : locks_) {
    refuse_after_fork(*lock.lock_);
    if (const error_code error = why_not_block(lock.lock_->core()->client())) refuse(error, describe());
  }
}

void LockSet::hand_to_thread(std::size_t number, Lease lease) {
  locks_[number].lock_->add(locks_[number].kind_, std::move(lease).into_share());
}

}  // namespace zklock::detail

#include "kept_acquire.hpp"

#include "kept_lock_node.hpp"

#include <utility>

namespace zklock {

using detail::HeldLock;
using detail::KeepSettings;
using detail::KeptLock;
using detail::KeptLockNode;
using detail::KeptLockNodes;
using detail::LeaseShare;
using detail::LockCore;
using detail::NodePlace;

namespace {

bool is_connected(const LockCore& core) {
  const ConnectionState state = core.client().state();
  return state == ConnectionState::connected || state == ConnectionState::reconnected;
}

/// Null: it cannot be granted any more, and is given back.
Awaitable<std::shared_ptr<HeldLock>> grant(KeptLock::Taken taken, Owner owner, LockKind kind, KeepSettings keep,
                                           std::uint64_t attempt) {
  taken.doubt();
  if (taken.node()->kind() != kind) co_return nullptr;
  const bool is_proven = co_await KeptLockNode::prove(taken.node(), keep.keeping);
  if (!is_proven) co_return nullptr;
  co_return HeldLock::make_on(taken.use(), owner, keep.keeping, attempt);
}

}  // namespace

Awaitable<Result<LocalOutcome>> acquire_locally(std::shared_ptr<LockCore> core, Owner owner, LockKind kind,
                                                Limits limits, KeepSettings keep, std::uint64_t attempt) {
  KeptLock& kept = core->keep();
  const KeptLock::Wanted wanted{owner, keep, limits.try_once, is_connected(*core)};
  auto entry = co_await KeptLock::enter(kept, wanted);
  if (!entry) co_return entry.error();
  LocalOutcome outcome;
  outcome.front = std::move(entry->front);
  outcome.enters_again = entry->enters_again;
  if (entry->taken.node()) {
    outcome.held_lock = co_await grant(std::move(entry->taken), owner, kind, keep, attempt);
    if (!outcome.held_lock) outcome.front = kept.begin_front();
  }
  co_return std::move(outcome);
}

std::shared_ptr<LeaseShare> acquire_at_once(const std::shared_ptr<LockCore>& core, Owner owner, LockKind kind,
                                            KeepSettings keep) {
  KeptLock* kept = keep.is_on() && keep.keeping == Keeping::silent ? core->kept() : nullptr;
  if (!kept || is_read(*core)) return nullptr;
  KeptLock::Taken taken = kept->take(owner);
  if (!taken.node() || taken.node()->kind() != kind || !taken.node()->is_fresh()) return nullptr;
  if (core->held_by(owner, kind) || (kind == LockKind::write && core->held_by(owner, LockKind::read))) return nullptr;
  auto held_lock = HeldLock::make_on(taken.use(), owner, keep.keeping, 0);
  core->add(held_lock);
  return std::make_shared<LeaseShare>(std::move(held_lock));
}

void ask_for_kept(const LockCore& core, LockKind kind, KeepSettings keep) {
  const auto node = core.kept() ? core.kept()->node() : nullptr;
  if (node && (!keep.is_on() || node->kind() != kind)) node->ask();
}

std::shared_ptr<HeldLock> hold_to_keep(const std::shared_ptr<LockCore>& core, Owner owner, LockKind kind,
                                       KeepSettings keep, Granted& granted, detail::PathShare& share,
                                       KeptLock::Front& front, std::uint64_t attempt) {
  if (!front.lock() || !granted.alone.watch.is_set()) return nullptr;
  if (granted.alone.connection != granted.session.connection()) return nullptr;
  if (core->keep().node() || KeptLockNodes::of(core->client())->number >= KeptLockNodes::max_number) return nullptr;
  auto node = KeptLockNode::make(core, core->keep(), kind, keep.keep, NodePlace{granted.session, granted.node},
                                 std::move(granted.alone));
  if (!front.become(node, owner)) return nullptr;
  node->own(std::move(share), std::move(granted.local_waiter));
  return HeldLock::make_on(std::move(node), owner, keep.keeping, attempt);
}

}  // namespace zklock

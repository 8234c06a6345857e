#include "kept_permit.hpp"

#include "sequence_number.hpp"

#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/locks/lock_node.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace zklock {

using detail::HeldLock;
using detail::KeptLock;
using detail::SemaphoreCore;

Awaitable<Result<std::shared_ptr<HeldLock>>> enter_kept_permit(const SemaphoreCore& semaphore, bool try_once,
                                                               std::uint64_t attempt, ToKeep& to_keep) {
  KeptLock& kept = semaphore.leases()->keep();
  const Owner owner = Owner::make();
  const KeptLock::Wanted wanted{owner, to_keep.how, try_once, is_connected(*semaphore.leases())};
  auto entry = co_await KeptLock::enter(kept, wanted);
  if (!entry) co_return entry.error();
  to_keep.front = std::move(entry->front);
  if (!entry->taken.node()) co_return nullptr;
  auto held_lock = co_await grant_kept(std::move(entry->taken), owner, LockKind::permit, to_keep.how, attempt);
  if (!held_lock) to_keep.front = kept.begin_front();
  co_return held_lock;
}

Awaitable<Result<Children>> list_to_keep(Session session, const std::string& directory, ToKeep* to_keep) {
  if (to_keep) to_keep->alone = {};
  if (!to_keep || !to_keep->front.lock()->is_alone()) {
    auto [error, listed] = co_await session.async_get_children(directory, use_tuple);
    if (error) co_return error;
    co_return std::move(listed.names);
  }
  to_keep->alone.connection = session.connection();
  auto [error, listed, watch] = co_await session.async_get_children_and_watch(directory, use_tuple);
  if (error) co_return error;
  to_keep->alone.watch = std::move(watch);
  co_return std::move(listed.names);
}

void note_listed(ToKeep& to_keep, const QueueNode& queue_node, const Children& children) {
  KeptLock& kept = *to_keep.front.lock();
  kept.on_numbered(queue_node.sequence().value_or(0));
  const bool may_keep = kept.is_alone() && !queue_node.late_node() &&
                        detail::is_only_one(children, queue_node.name(), LockKind::permit, LockNaming::curator);
  if (!may_keep) to_keep.alone = {};
  if (!kept.is_alone()) kept.on_stranger();  // its node has come between
}

/// The node right ahead is the client's own; if the numbers did not tell so, the other client is noted already. (If the
/// directory was made anew, they may mislead: then local acquires wait without nodes, for no longer than the lock may be
/// kept.)
void note_waiting(ToKeep& to_keep, const QueueNode& queue_node, const Children& children) {
  const std::string own = queue_node.name();
  const std::int64_t right_ahead = std::int64_t{queue_node.sequence().value_or(0)} - 1;
  const auto is_ours = [&](const std::string& child) {
    return child == own || parse_sequence(child, marker_of(LockKind::permit)) == right_ahead;
  };
  if (!std::ranges::all_of(children, is_ours)) to_keep.front.lock()->on_stranger();
}

}  // namespace zklock

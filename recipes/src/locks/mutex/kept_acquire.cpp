#include "kept_acquire.hpp"

#include "acquire.hpp"
#include "kept_read.hpp"

#include <zklock/recipe_kit/complete_later.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/session_ops.hpp>

#include <utility>

namespace zklock {

using detail::complete_later;
using detail::Handler;
using detail::HeldLock;
using detail::is_only_one;
using detail::KeepSettings;
using detail::KeptLock;
using detail::KeptLockNode;
using detail::KeptLockNodes;
using detail::LeaseShare;
using detail::LockCore;
using detail::NodePlace;

namespace {

/// It came without a wait, next to the client's last node, and nobody is behind it.
bool may_keep(const LockRequest& request, const QueueNode& queue_node, const Children& children) {
  const bool is_adjacent = queue_node.right_ahead().node && !queue_node.late_node();
  return is_adjacent && is_only_one(children, queue_node.name(), request.kind, request.core->naming());
}

}  // namespace

Awaitable<error_code> enqueue_with_watch(const Session& session, const LockCore& core, QueueNode& queue_node,
                                         KeptLockNode::Alone& alone, Enqueued& found) {
  if (queue_node.has_abandoned_ahead())
    if (const error_code error = co_await queue_node.wait_for_abandoned()) co_return error;
  alone.connection = session.connection();
  queue_node.request();
  auto [failed, listed, watch] = co_await session.async_get_children_and_watch(core.path(), use_tuple);
  if (!queue_node.is_enqueued()) {
    int rounds_left = max_rounds;
    if (const error_code error = co_await queue_node.prepare_retry(core.naming(), rounds_left)) co_return error;
  } else if (!failed) {
    alone.watch = std::move(watch);
    found = queue_node.read_list(core.naming(), std::move(listed.names));
    co_return failed;
  }
  co_return co_await queue_node.enqueue(core.naming(), found);
}

bool is_connected(const LockCore& core) {
  const ConnectionState state = core.client().state();
  return state == ConnectionState::connected || state == ConnectionState::reconnected;
}

Awaitable<std::shared_ptr<HeldLock>> grant_kept(KeptLock::Taken taken, Owner owner, LockKind kind, KeepSettings how,
                                                std::uint64_t attempt) {
  taken.doubt();
  if (taken.node()->kind() != kind) co_return nullptr;
  const bool is_proven = co_await KeptLockNode::prove(taken.node(), how);
  if (!is_proven) co_return nullptr;
  co_return HeldLock::make_on(taken.use(), owner, how, attempt);
}

Awaitable<Result<Lease>> acquire_to_keep(const LockRequest& request, KeepSettings how) {
  const auto& core = request.core;
  KeptLock& kept = core->keep();
  ToKeep to_keep{how};
  for (;;) {
    const KeptLock::Wanted wanted{request.owner, how, request.limits.try_once, is_connected(*core)};
    auto entry = co_await KeptLock::enter(kept, wanted);
    if (!entry) co_return request.told.failed(entry.error());
    to_keep.front = std::move(entry->front);
    if (entry->taken.node()) {
      const auto held_lock =
          co_await grant_kept(std::move(entry->taken), request.owner, request.kind, how, request.told.number());
      if (held_lock) co_return kept_lease(*core, request.told, held_lock);
      to_keep.front = kept.begin_front();
    }
    if (!entry->enters_again) break;
    co_await asio::post(core->client().get_executor(), use_tuple);
    if (auto again = enter_again(*core, request.owner, request.kind, &request.told)) co_return std::move(*again);
  }
  LockRequest in_queue = request;
  in_queue.keeps = &to_keep;
  auto lease = co_await wait_in_queue(in_queue);
  if (!lease && lease.error() != Error::timed_out && lease.error() != asio::error::operation_aborted)
    to_keep.front.fail();
  co_return std::move(lease);
}

std::shared_ptr<LeaseShare> acquire_at_once(const std::shared_ptr<LockCore>& core, Owner owner, LockKind kind,
                                            KeepSettings how) {
  if (kind == LockKind::read) return read_at_once(core, owner, how);
  KeptLock* kept = how.is_on() && how.keeping == Keeping::silent ? core->kept() : nullptr;
  if (!kept || is_read(*core)) return nullptr;
  KeptLock::Taken taken = kept->take(owner);
  if (!taken.node() || taken.node()->kind() != kind || !taken.node()->is_fresh()) return nullptr;
  if (core->held_by(owner, kind) || (kind == LockKind::write && core->held_by(owner, LockKind::read))) return nullptr;
  const auto node = taken.node();
  auto held_lock = HeldLock::make_on(taken.use(), owner, how, 0);
  core->add(held_lock);
  lose_if_gone(*node, held_lock);
  return std::make_shared<LeaseShare>(std::move(held_lock));
}

bool complete_at_once(const std::shared_ptr<LockCore>& core, Owner owner, LockKind kind, KeepSettings how,
                      Handler<Lease>& handler) {
  auto share = acquire_at_once(core, owner, kind, how);
  if (!share) return false;
  complete_later(core->client().get_executor(), core, std::move(handler), error_code{}, Lease{std::move(share)});
  return true;
}

Awaitable<error_code> enqueue_to_keep(const Session& session, const LockRequest& request, QueueNode& queue_node,
                                      Enqueued& found) {
  const LockCore& core = *request.core;
  KeptLock& kept = *request.keeps->front.lock();
  KeptLockNode::Alone& alone = request.keeps->alone = {};
  auto enqueuing = kept.is_alone() ? enqueue_with_watch(session, core, queue_node, alone, found)
                                   : queue_node.enqueue(core.naming(), found);
  const error_code error = co_await std::move(enqueuing);
  if (error) co_return error;
  kept.on_enqueued(queue_node.right_ahead().node != nullptr);
  if (!may_keep(request, queue_node, found.children)) alone = {};
  co_return error;
}

std::shared_ptr<KeptLockNode> begin_keeping(const std::shared_ptr<LockCore>& core, Owner owner, LockKind kind,
                                            ToKeep& to_keep, NodePlace place) {
  auto& [how, front, alone] = to_keep;
  if (!alone.watch.is_set() || alone.connection != place.session().connection()) return nullptr;
  if (core->keep().node() || KeptLockNodes::of(core->client())->number >= KeptLockNodes::max_number) return nullptr;
  auto node = KeptLockNode::make(core, core->keep(), kind, how.keep, std::move(place), std::move(alone));
  return front.become(node, owner) ? node : nullptr;
}

std::shared_ptr<HeldLock> hold_to_keep(const LockRequest& request, const Session& session, QueueNode& queue_node) {
  auto node =
      begin_keeping(request.core, request.owner, request.kind, *request.keeps, NodePlace{session, queue_node.node()});
  if (!node) return nullptr;
  node->own(std::move(request.share), queue_node.local_waiter());
  queue_node.detach();
  return HeldLock::make_on(std::move(node), request.owner, request.keeps->how, request.told.number());
}

}  // namespace zklock

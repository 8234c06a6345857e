#include "kept_lock_node.hpp"

#include "held_lock.hpp"
#include "queue_position.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/locks/lock_data.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <algorithm>
#include <utility>

namespace zklock::detail {

using Cause = KeptLock::Cause;

bool is_only_one(const std::vector<std::string>& children, std::string_view own, LockKind kind, LockNaming naming) {
  if (kind == LockKind::permit) return children.size() == 1 && children.front() == own;  // each child counts
  const auto queue = in_queue_order(children, kind, naming);
  return queue.size() == 1 && queue.front().name == own;
}

std::shared_ptr<KeptLockNode> KeptLockNode::make(std::shared_ptr<LockTarget> lock, KeptLock& kept_lock, LockKind kind,
                                                 Clock::duration keep, NodePlace place, Alone alone) {
  auto node =
      std::make_shared<KeptLockNode>(std::move(lock), kept_lock, kind, keep, std::move(place), std::move(alone));
  node->begin();
  return node;
}

KeptLockNode::KeptLockNode(std::shared_ptr<LockTarget> lock, KeptLock& kept_lock, LockKind kind, Clock::duration keep,
                           NodePlace place, Alone alone)
    : WatchedNode{std::move(lock), keep, std::move(place), std::move(alone)},
      kept_lock_{kept_lock},
      kind_{kind},
      token_{node().stat.czxid} {}

// ---- what is known of it

Awaitable<bool> KeptLockNode::prove(std::shared_ptr<KeptLockNode> self, KeepSettings how) {
  auto proving = prove_wanted(self, how.keeping);
  const bool is_wanted = co_await std::move(proving);
  if (is_wanted || how.handoffs == 0) co_return is_wanted;
  auto proving_asked = prove_asked(std::move(self), how.handoffs);
  co_return co_await std::move(proving_asked);
}

Awaitable<bool> KeptLockNode::prove_wanted(std::shared_ptr<KeptLockNode> self, Keeping keeping) {
  if (!self->is_watched()) co_return false;
  if (keeping == Keeping::confirmed) {
    const std::string data = format_lock_data({self->lock()->client().client_id(), 1});
    const auto [error, stat] =
        co_await self->session().async_set_data(self->node().path, data, self->version_, use_tuple);
    if (error) co_return false;  // it may have been carried out, and a request to revoke may be what is there
    self->version_ = stat.version;
    self->token_ = stat.mzxid;
  }
  if (const error_code dead = co_await prove_alive(self->session())) co_return false;
  // Events come ahead of each reply that shows a later state: with neither an event nor another connection, no other
  // client had come when the server carried out the write.
  co_return self->is_watched() && self->kept_lock_.is_wanted(*self);
}

/// With no watch left, a read tells whether the node is still there, and not revoked.
Awaitable<bool> KeptLockNode::prove_asked(std::shared_ptr<KeptLockNode> self, int max_handoffs) {
  if (!self->is_on_its_connection()) co_return false;
  const auto [error, node] = co_await self->session().async_get_data(self->node().path, use_tuple);
  if (error || node.data == revocation_request) co_return false;
  if (const error_code dead = co_await prove_alive(self->session())) co_return false;
  co_return self->is_on_its_connection() && self->kept_lock_.begin_handoff(*self, max_handoffs);
}

// ---- its leases

void KeptLockNode::hold(const std::shared_ptr<HeldLock>& held_lock) {
  note_use();
  const std::lock_guard guard{mutex_};
  holder_ = held_lock;
}

std::vector<std::shared_ptr<HeldLock>> KeptLockNode::holders() const {
  const std::lock_guard guard{mutex_};
  auto holder = holder_.lock();
  if (!holder) return {};
  return {std::move(holder)};
}

bool KeptLockNode::is_held() const {
  return std::ranges::any_of(holders(), [](const auto& each) { return each->count() > 0; });
}

bool KeptLockNode::take_back(const HeldLock& held_lock) { return kept_lock_.release(*this, may_keep(held_lock)); }

void KeptLockNode::take_back_unused(bool may_keep) {
  if (kept_lock_.release(*this, may_keep && is_on_its_connection())) remove(nullptr);
}

// ---- what asks for it

void KeptLockNode::ask(KeptLock::Cause cause) {
  if (kept_lock_.ask(*this, cause)) remove(nullptr);
}

void KeptLockNode::on_event(error_code error, const WatchEvent& event) {
  const bool is_another = !error && event.type == WatchEventType::node_children_changed;
  on_event(is_another ? Cause::another_client : Cause::other);
}

/// If an operator has deleted the node, its holder is to know.
void KeptLockNode::on_event(Cause cause) {
  if (is_over()) return;
  kept_lock_.on_stranger();
  ask(cause);
  if (is_over()) return;
  for (const auto& each : holders()) each->ask_server();
}

void KeptLockNode::on_children(error_code error, const std::vector<std::string>& children, Watch watch) {
  if (is_over()) return;
  if (error || !watch.is_set() || !is_only_one(children, node_name(node().path), kind_, lock()->naming()))
    return on_event(error ? Cause::other : Cause::another_client);
  replace_watch(std::move(watch));
  listen();
}

}  // namespace zklock::detail

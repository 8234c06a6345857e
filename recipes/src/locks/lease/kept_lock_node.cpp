#include "kept_lock_node.hpp"

#include "queue_position.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/locks/lock_data.hpp>
#include <zklock/recipes/locks/revocation.hpp>

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
  node->renewal_.emplace(node->session(), node);
  node->all_ = KeptLockNodes::of(node->lock_->client());
  ++node->all_->number;
  node->listen();
  node->wait_to_look();
  return node;
}

KeptLockNode::KeptLockNode(std::shared_ptr<LockTarget> lock, KeptLock& kept_lock, LockKind kind, Clock::duration keep,
                           NodePlace place, Alone alone)
    : lock_{std::move(lock)},
      kept_lock_{kept_lock},
      kind_{kind},
      keep_{keep},
      place_{std::move(place)},
      connection_{alone.connection},
      watch_{std::move(alone.watch)},
      timer_{place_.session().get_executor()},
      token_{place_.node().stat.czxid} {}

// ---- what is known of it

bool KeptLockNode::is_on_its_connection() const noexcept {
  return session().state() == SessionState::connected && session().connection() == connection_;
}

bool KeptLockNode::is_fresh() const noexcept {
  return is_on_its_connection() && Clock::now() + session().timeout() / 3 < session().valid_until();
}

Awaitable<bool> KeptLockNode::prove(std::shared_ptr<KeptLockNode> self, KeepSettings how) {
  auto proving = prove_wanted(self, how.keeping);
  const bool is_wanted = co_await std::move(proving);
  if (is_wanted || how.handoffs == 0) co_return is_wanted;
  auto proving_asked = prove_asked(std::move(self), how.handoffs);
  co_return co_await std::move(proving_asked);
}

Awaitable<bool> KeptLockNode::prove_wanted(std::shared_ptr<KeptLockNode> self, Keeping keeping) {
  if (!self->is_on_its_connection() || !self->watch_.is_set()) co_return false;
  if (keeping == Keeping::confirmed) {
    const std::string data = format_lock_data({self->lock_->client().client_id(), 1});
    const auto [error, stat] =
        co_await self->session().async_set_data(self->node().path, data, self->version_, use_tuple);
    if (error) co_return false;  // it may have been carried out, and a request to revoke may be what is there
    self->version_ = stat.version;
    self->token_ = stat.mzxid;
  }
  if (const error_code dead = co_await prove_alive(self->session())) co_return false;
  // Events come ahead of each reply that shows a later state: with neither an event nor another connection, no other
  // client had come when the server carried out the write.
  co_return self->is_on_its_connection() && self->watch_.is_set() && self->kept_lock_.is_wanted(*self);
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
  was_used_ = true;
  const std::lock_guard guard{mutex_};
  holder_ = held_lock;
}

std::shared_ptr<HeldLock> KeptLockNode::holder() const {
  const std::lock_guard guard{mutex_};
  return holder_.lock();
}

bool KeptLockNode::may_keep(const HeldLock& held_lock) const noexcept {
  return !held_lock.is_lost() && !held_lock.is_revoked() && is_on_its_connection();
}

bool KeptLockNode::take_back(const HeldLock& held_lock) { return kept_lock_.release(*this, may_keep(held_lock)); }

void KeptLockNode::take_back_unused(bool may_keep) {
  if (kept_lock_.release(*this, may_keep && is_on_its_connection())) remove(nullptr);
}

// ---- its end

void KeptLockNode::ask(KeptLock::Cause cause) {
  if (kept_lock_.ask(*this, cause)) remove(nullptr);
}

/// The delete fires the watch, which is given up only then: to remove it would cost a request.
void KeptLockNode::remove(std::function<void(error_code)> removed) {
  asio::dispatch(session().get_executor(), [self = shared_from_this(), removed = std::move(removed)] {
    self->stop();
    self->place_.remove([self, removed](error_code outcome) {
      self->watch_ = Watch{};
      if (removed) removed(outcome);
    });
  });
}

void KeptLockNode::stop() {
  if (!std::exchange(is_over_, true)) --all_->number;
  timer_.cancel();
  renewal_.reset();
}

void KeptLockNode::lose() {
  place_.mark_deleted();
  ask();
}

void KeptLockNode::on_node_deleted() {
  if (const auto held_lock = holder()) held_lock->lose();
  lose();
}

void KeptLockNode::on_lapse() {
  const auto self = shared_from_this();
  if (const auto held_lock = holder()) held_lock->on_lapse();
  const bool is_over = is_final(session().state()) || Clock::now() >= session().valid_until();
  if (is_over) ask();
}

void KeptLockNode::on_link(SessionState state) {
  const auto self = shared_from_this();
  if (const auto held_lock = holder()) held_lock->on_link(state);
  ask();
}

// ---- what asks for it

void KeptLockNode::listen() {
  watch_.async_wait(asio::bind_executor(session().get_executor(), [weak = weak_from_this(), number = ++watch_number_](
                                                                      error_code error, const WatchEvent& event) {
    const auto self = weak.lock();
    const bool is_another = !error && event.type == WatchEventType::node_children_changed;
    if (self && self->watch_number_ == number) self->on_event(is_another ? Cause::another_client : Cause::other);
  }));
}

/// If an operator has deleted the node, its holder is to know.
void KeptLockNode::on_event(Cause cause) {
  if (is_over_) return;
  kept_lock_.on_stranger();
  ask(cause);
  if (const auto held_lock = is_over_ ? nullptr : holder()) held_lock->ask_server();
}

void KeptLockNode::wait_to_look() {
  timer_.expires_after(keep_ / 2);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (!error && !self->is_over_) self->look();
  });
}

void KeptLockNode::look() {
  const auto held_lock = holder();
  const bool is_held = held_lock && held_lock->count() > 0;
  if (!is_on_its_connection() || (!is_held && !was_used_)) ask();
  if (is_over_) return;
  was_used_ = false;
  const auto serial = session().get_executor();
  session().async_get_children_and_watch(
      lock_->path(),
      asio::bind_executor(serial, [weak = weak_from_this()](error_code error, ChildrenResult listed, Watch watch) {
        if (const auto self = weak.lock()) self->on_children(error, listed.names, std::move(watch));
      }));
  session().async_get_data(node().path,
                           asio::bind_executor(serial, [weak = weak_from_this()](error_code error, DataResult result) {
                             if (const auto self = weak.lock()) self->on_data(error, result);
                           }));
  wait_to_look();
}

void KeptLockNode::on_children(error_code error, const std::vector<std::string>& children, Watch watch) {
  if (is_over_) return;
  if (error || !watch.is_set() || !is_only_one(children, node_name(node().path), kind_, lock_->naming()))
    return on_event(error ? Cause::other : Cause::another_client);
  watch_ = std::move(watch);
  listen();
}

void KeptLockNode::on_data(error_code error, const DataResult& node) {
  const bool is_revoked = !error && node.data == revocation_request;
  if (const auto held_lock = holder(); held_lock && is_revoked) held_lock->on_data(node);
  if (error || is_revoked) ask();
}

}  // namespace zklock::detail

#include "kept_reader_node.hpp"

#include "queue_position.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/session_ops.hpp>

#include <algorithm>
#include <utility>

namespace zklock::detail {

std::shared_ptr<KeptReaderNode> KeptReaderNode::make(std::shared_ptr<LockTarget> lock, KeptReaders& readers,
                                                     Clock::duration keep, NodePlace place, ListWatch first) {
  auto node = std::make_shared<KeptReaderNode>(std::move(lock), readers, keep, std::move(place), std::move(first));
  node->begin();
  return node;
}

KeptReaderNode::KeptReaderNode(std::shared_ptr<LockTarget> lock, KeptReaders& readers, Clock::duration keep,
                               NodePlace place, ListWatch first)
    : WatchedNode{std::move(lock), keep, std::move(place), std::move(first)},
      readers_{readers},
      list_timer_{session().get_executor()} {}

// ---- its holders

bool KeptReaderNode::enter() noexcept {
  if (!count_.enter()) return false;
  note_use();
  return true;
}

/// It is not granted if a writer was seen meanwhile: that one is not to wait any longer.
Awaitable<bool> KeptReaderNode::prove(std::shared_ptr<KeptReaderNode> self) {
  if (!self->is_on_its_connection()) co_return false;
  if (const error_code dead = co_await prove_alive(self->session())) co_return false;
  co_return self->is_on_its_connection() && !self->is_asked();
}

bool KeptReaderNode::take_back(const HeldLock& held_lock) {
  if (!may_keep(held_lock)) ask();
  return count_.leave();
}

void KeptReaderNode::take_back_unused() {
  if (!is_on_its_connection()) ask();
  if (count_.leave()) remove(nullptr);
}

// ---- its end

void KeptReaderNode::ask() {
  readers_.on_asked();
  if (count_.ask()) remove(nullptr);
}

void KeptReaderNode::stop() {
  WatchedNode::stop();
  list_timer_.cancel();
}

// ---- what asks for it

void KeptReaderNode::on_event(error_code, const WatchEvent&) { list_soon(); }

/// A list that is under way will show what this event tells: an event comes ahead of each reply that shows a later
/// state.
void KeptReaderNode::list_soon() {
  if (is_over() || is_asked() || is_listing_) return;
  list_timer_.expires_at(may_list_at_);
  list_timer_.async_wait([this, weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (!error && self && !is_over()) list();
  });
}

void KeptReaderNode::list() {
  if (is_asked() || std::exchange(is_listing_, true)) return;
  list_timer_.cancel();
  may_list_at_ = Clock::now() + list_pause;
  WatchedNode::list();
}

void KeptReaderNode::on_children(error_code error, const std::vector<std::string>& children, Watch watch) {
  is_listing_ = false;
  if (is_over()) return;
  const bool is_set = watch.is_set();
  replace_watch(std::move(watch));
  if (error || !is_on_its_connection()) return error == Error::no_node ? lose() : ask();
  if (std::ranges::find(children, node_name(node().path)) == children.end()) return lose();
  if (!has_no_writer(children, lock()->naming())) return ask();
  if (!is_set) return list_soon();
  listen();
}

}  // namespace zklock::detail

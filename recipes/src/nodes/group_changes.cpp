#include "group_changes.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace zklock {

std::optional<GroupChange> next_change(MemberMap& known, const MemberMap& now) {
  for (auto old = known.begin(); old != known.end(); ++old) {
    const auto found = now.find(old->first);
    if (found != now.end() && found->second.czxid == old->second.czxid) continue;
    GroupChange left{GroupChangeKind::left, old->first, std::move(old->second)};
    known.erase(old);
    return left;
  }
  for (const auto& [id, member] : now) {
    const auto [old, is_new] = known.try_emplace(id, member);
    if (is_new) return GroupChange{GroupChangeKind::joined, id, member};
    if (old->second == member) continue;
    old->second = member;
    return GroupChange{GroupChangeKind::changed, id, member};
  }
  return std::nullopt;
}

namespace detail {

void GroupChangeQueue::show(std::shared_ptr<const MemberMap> members) {
  Lock lock{mutex_};
  now_ = std::move(members);
  serve(std::move(lock));
}

void GroupChangeQueue::end() {
  Lock lock{mutex_};
  ended_ = true;
  serve(std::move(lock));
}

void GroupChangeQueue::wait(Handler<GroupChange> handler) {
  Lock lock{mutex_};
  if (waiter_) {
    lock.unlock();
    return deliver(std::move(handler), make_error_code(Error::invalid_state), {});
  }
  waiter_.emplace(std::move(handler));
  serve(std::move(lock));
}

void GroupChangeQueue::serve(Lock lock) {
  if (!waiter_) return;
  auto change = next_change(known_, *now_);
  if (!change && !ended_) return;
  Handler<GroupChange> waiter{std::move(*waiter_)};
  waiter_.reset();
  lock.unlock();
  const error_code error = change ? error_code{} : make_error_code(Error::closing);
  deliver(std::move(waiter), error, change ? std::move(*change) : GroupChange{});
}

void GroupChangeQueue::cancel() {
  Lock lock{mutex_};
  if (!waiter_) return;
  Handler<GroupChange> waiter{std::move(*waiter_)};
  waiter_.reset();
  lock.unlock();
  deliver(std::move(waiter), make_error_code(asio::error::operation_aborted), {});
}

void GroupChangeQueue::deliver(Handler<GroupChange> handler, error_code error, GroupChange change) const {
  asio::post(client().get_executor(), [handler = std::move(handler), error, change = std::move(change)]() mutable {
    std::move(handler)(error, std::move(change));
  });
}

asio::any_io_executor serial_executor(const GroupChangeQueue& queue) { return queue.client().get_executor(); }
asio::any_io_executor callback_executor(const GroupChangeQueue& queue) { return queue.client().callback_executor(); }
void refuse_after_fork(const GroupChangeQueue& queue) { refuse_after_fork(static_cast<const RecipeCore&>(queue)); }

void abandon(const std::shared_ptr<GroupChangeQueue>& queue) noexcept {
  if (queue && !queue->client().in_forked_child()) queue->cancel();
}

void start_next_change(std::shared_ptr<GroupChangeQueue> queue, Handler<GroupChange> handler) {
  if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
    slot.assign([weak = std::weak_ptr{queue}](asio::cancellation_type type) {
      const auto self = weak.lock();
      if (self && type != asio::cancellation_type::none) self->cancel();
    });
  queue->wait(std::move(handler));
}

}  // namespace detail
}  // namespace zklock

#include "local_queue.hpp"

#include "queue_kind.hpp"

#include <zklock/path.hpp>

#include <utility>

namespace zklock {

std::shared_ptr<LocalWaiter> LocalQueue::enter(const Session& session, LockKind kind, std::int32_t sequence,
                                               std::string path) {
  auto local_waiter = std::make_shared<LocalWaiter>(weak_from_this(), session.id(), kind, sequence, std::move(path));
  const auto before = std::exchange(present_[sequence], local_waiter);
  if (before) before->mark_deleted();  // with its session, or with a directory that was created anew
  return local_waiter;
}

void LocalQueue::attend(const Session& session) {
  if (attended_ == session.id()) return;
  wake_all(attended_);
  attended_ = session.id();
  states_.emplace(session.states());
  listen(session.get_executor());
}

void LocalQueue::listen(const asio::any_io_executor& executor) {
  states_->async_next(asio::bind_executor(
      executor, [weak = weak_from_this(), executor, session = attended_](error_code ended, SessionState state) {
        const auto self = weak.lock();
        if (!self || self->attended_ != session) return;
        if (ended || is_final(state)) return self->wake_all(session);
        self->listen(executor);
      }));
}

void LocalQueue::wake_all(std::int64_t session) const {
  for (const auto& [sequence, local_waiter] : present_)
    if (local_waiter->session_ == session) local_waiter->wake();
}

LocalQueue::Moment LocalQueue::on_dequeued(const LocalWaiter& local_waiter) {
  if (auto dequeued = take_out(local_waiter)) last_ = std::move(dequeued);
  return ++departures_;
}

std::shared_ptr<LocalWaiter> LocalQueue::take_out(const LocalWaiter& local_waiter) {
  const auto found = present_.find(local_waiter.sequence_);
  if (found == present_.end() || found->second.get() != &local_waiter) return nullptr;
  auto taken = std::move(found->second);
  present_.erase(found);
  return taken;
}

bool LocalQueue::Asked::is_of(const Session& other, LockKind others_kind) const {
  return number > 0 && session == other.id() && is_same_queue(kind, others_kind);
}

void LocalQueue::ask(const Session& session, LockKind kind) {
  if (!asked_.is_of(session, kind)) asked_ = {session.id(), kind};
  ++asked_.number;
  if (kind == LockKind::write) ++asked_.writers;
}

void LocalQueue::answered(const Session& session, LockKind kind) {
  if (!asked_.is_of(session, kind)) return;
  --asked_.number;
  if (kind == LockKind::write) --asked_.writers;
}

/// The node with the last number is the one that a new node may have directly ahead of it.
bool LocalQueue::leads(const Session& session, LockKind kind) const {
  const bool reads = kind == LockKind::read;
  if (asked_.is_of(session, kind) && (!reads || asked_.writers > 0)) return true;
  if (present_.empty()) return false;
  const LocalWaiter& last = *present_.rbegin()->second;
  const bool tells = !reads || last.kind_ == LockKind::write || last.waits_for();
  return tells && last.session_ == session.id() && is_same_queue(last.kind_, kind);
}

std::shared_ptr<LocalWaiter> LocalQueue::find(const Session& session, LockKind kind, std::int32_t sequence,
                                              std::string_view name) const {
  auto found = find_number(session, kind, sequence);
  return found && node_name(found->path_) == name ? found : nullptr;
}

std::shared_ptr<LocalWaiter> LocalQueue::find_number(const Session& session, LockKind kind,
                                                     std::int32_t sequence) const {
  const auto found = present_.find(sequence);
  if (found == present_.end()) return nullptr;
  const bool is_it = found->second->session_ == session.id() && is_same_queue(found->second->kind_, kind);
  return is_it ? found->second : nullptr;
}

std::shared_ptr<LocalWaiter> LocalQueue::right_ahead(const Session& session, LockKind kind, std::int32_t sequence,
                                                     Moment asked_for) const {
  if (sequence <= 0) return nullptr;
  if (auto present = find_number(session, kind, sequence - 1)) return present;
  const bool is_it = last_ && last_->sequence_ == sequence - 1 && last_->session_ == session.id() &&
                     is_same_queue(last_->kind_, kind) && last_->left_at_ > asked_for;
  return is_it ? last_ : nullptr;
}

}  // namespace zklock

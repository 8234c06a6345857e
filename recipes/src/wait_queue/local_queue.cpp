#include "local_queue.hpp"

#include "queue_kind.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/locks/lock_node.hpp>

#include <algorithm>
#include <utility>

namespace zklock {

std::shared_ptr<LocalWaiter> LocalQueue::enter(const Session& session, LockKind kind, std::int32_t sequence,
                                               CreateResult node) {
  auto local_waiter = add(session, kind, sequence, std::move(node));
  was_adjacent_ = newest_ && sequence > 0 && newest_->sequence_ == sequence - 1;
  newest_ = local_waiter;
  lose_earlier_directory(*local_waiter);
  return local_waiter;
}

std::shared_ptr<LocalWaiter> LocalQueue::enter_beside(const Session& session, std::int32_t sequence,
                                                      CreateResult node) {
  auto local_waiter = add(session, LockKind::read, sequence, std::move(node));
  local_waiter->is_beside_ = true;
  return local_waiter;
}

std::shared_ptr<LocalWaiter> LocalQueue::add(const Session& session, LockKind kind, std::int32_t sequence,
                                             CreateResult node) {
  auto local_waiter = std::make_shared<LocalWaiter>(weak_from_this(), session.id(), kind, sequence, std::move(node));
  present_.emplace(sequence, local_waiter);
  return local_waiter;
}

/// Numbers grow with each node that is created in a directory. So an earlier node with the same number or a greater one
/// was in an earlier directory, and so was each that was made before that node. Numbers near their end are no evidence:
/// they repeat or become negative in one directory [F26]. Nor is a reader beside its writer, with that one's number,
/// before it is granted: its writer may be of an earlier directory.
void LocalQueue::lose_earlier_directory(const LocalWaiter& made) {
  if (made.sequence_ < 0) return;
  const auto has_own_number = [](const LocalWaiter& other) { return !other.is_beside_ || other.was_granted(); };
  std::int64_t last_earlier = 0;
  for (auto each = present_.lower_bound(made.sequence_); each != present_.end(); ++each) {
    const LocalWaiter& other = *each->second;
    if (other.sequence_ > last_safe_sequence) break;
    if (other.session_ == made.session_ && other.czxid_ < made.czxid_ && has_own_number(other))
      last_earlier = std::max(last_earlier, other.czxid_);
  }
  if (last_earlier > 0) on_gone(made.session_, last_earlier + 1);
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
  take_out(local_waiter);
  return ++departures_;
}

void LocalQueue::take_out(const LocalWaiter& local_waiter) {
  const auto [first, last] = present_.equal_range(local_waiter.sequence_);
  const auto found = std::find_if(first, last, [&](const auto& each) { return each.second.get() == &local_waiter; });
  if (found != last) present_.erase(found);
}

void LocalQueue::on_gone(std::int64_t session, std::int64_t made_before) {
  std::vector<std::shared_ptr<LocalWaiter>> gone;
  for (const auto& [sequence, local_waiter] : present_)
    if (local_waiter->session_ == session && local_waiter->czxid_ < made_before) gone.push_back(local_waiter);
  for (const auto& local_waiter : gone) local_waiter->on_deleted();
}

bool LocalQueue::Requested::is_of(const Session& other, LockKind others_kind) const {
  return number > 0 && session == other.id() && is_same_queue(kind, others_kind);
}

LocalQueue::Request LocalQueue::begin_request(const Session& session, LockKind kind) {
  const EnqueueBy how = how_to_enqueue(session, kind);
  if (!requested_.is_of(session, kind)) requested_ = {session.id(), kind};
  ++requested_.number;
  if (kind == LockKind::write) ++requested_.writers;
  return {how, departures_, session.connection()};
}

void LocalQueue::end_abandoned() {
  if (--abandoned_ > 0) return;
  if (const auto waiting = settled_.lock()) waiting->happen();
}

std::shared_ptr<AsyncEvent> LocalQueue::settled(const Session& session) {
  auto settled = settled_.lock();
  if (!settled) settled_ = settled = std::make_shared<AsyncEvent>(session.get_executor());
  return settled;
}

void LocalQueue::end_request(const Session& session, LockKind kind) {
  if (!requested_.is_of(session, kind)) return;
  --requested_.number;
  if (kind == LockKind::write) --requested_.writers;
}

// ---- what the numbers tell

/// A watch pays where numbers follow one another, and not for locks of ever new names.
EnqueueBy LocalQueue::how_to_enqueue(const Session& session, LockKind kind) const {
  if (!watches_ || !is_likely_adjacent(session, kind)) return EnqueueBy::list;
  if (directory_->is_set(session)) return EnqueueBy::number;
  const bool pays = was_adjacent_ || requested_.number > 0;
  return pays && !directory_->is_refused() ? EnqueueBy::watch_and_list : EnqueueBy::list;
}

/// A wrong guess costs a flight: two clients that alternate would always make it.
bool LocalQueue::is_likely_adjacent(const Session& session, LockKind kind) const {
  const bool reads = kind == LockKind::read;
  if (requested_.is_of(session, kind) && (!reads || requested_.writers > 0)) return true;
  if (!newest_ || newest_->session_ != session.id() || !is_same_queue(newest_->kind_, kind)) return false;
  const AheadState ahead = newest_->seen_since(departures_);
  return position_behind(ahead, kind) != PositionByNumber::unknown && (was_adjacent_ || ahead.is_present);
}

void LocalQueue::watch(const Session& session, const std::string& directory) {
  if (!watches_) return;
  watches_->admit(directory_, session.full_path(directory).size());
  directory_->set(session, directory, [weak = weak_from_this(), id = session.id()](std::int64_t made_before) {
    if (const auto self = weak.lock()) self->on_gone(id, made_before);
  });
}

LocalQueue::RightAhead LocalQueue::right_ahead(const Session& session, LockKind kind, std::int32_t sequence,
                                               Request request) const {
  if (!newest_ || sequence <= 0 || newest_->sequence_ != sequence - 1) return {};
  if (newest_->session_ != session.id() || !is_same_queue(newest_->kind_, kind)) return {};
  return {newest_, directory_->proves(session, request.connection, newest_->czxid_)};
}

/// A reader does not wait for a reader, but for the writer for which that reader waits.
std::optional<LocalPosition> LocalQueue::position_by_number(const RightAhead& right_ahead, LockKind kind,
                                                            const Request& request) {
  using Verdict = QueuePosition::Verdict;
  const auto& [ahead, is_proven] = right_ahead;
  if (!is_proven) return std::nullopt;
  switch (position_behind(ahead->seen_since(request.at), kind)) {
    case PositionByNumber::first: return LocalPosition{{Verdict::first}};
    case PositionByNumber::behind: return LocalPosition{{Verdict::behind}, ahead};
    case PositionByNumber::behind_its_writer: return LocalPosition{{Verdict::behind}, ahead->waits_for()};
    case PositionByNumber::unknown: break;
  }
  return std::nullopt;
}

// ---- what a list tells

LocalPosition LocalQueue::position_by_list(const Session& session, LockKind kind, LockNaming naming,
                                           const std::vector<std::string>& children, std::string_view name) const {
  LocalPosition position{find_position(children, name, kind, naming)};
  if (position.verdict == QueuePosition::Verdict::behind)
    position.ahead = find(session, kind, position.predecessor_sequence, position.predecessor);
  return position;
}

std::shared_ptr<LocalWaiter> LocalQueue::find(const Session& session, LockKind kind, std::int32_t sequence,
                                              std::string_view name) const {
  const auto [first, last] = present_.equal_range(sequence);
  const auto found = std::find_if(first, last, [&](const auto& each) {
    const LocalWaiter& present = *each.second;
    return present.session_ == session.id() && is_same_queue(present.kind_, kind) && node_name(present.path_) == name;
  });
  return found != last ? found->second : nullptr;
}

// ---- tries

bool LocalQueue::is_to_be_asked(std::string_view ahead) {
  if (ahead == asked_node_) return false;
  return std::exchange(listed_node_, ahead) == ahead;
}

bool LocalQueue::has_left(std::string_view name) const {
  return newest_ && newest_->has_left() && node_name(newest_->path()) == name;
}

}  // namespace zklock

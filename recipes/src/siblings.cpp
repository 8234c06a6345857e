#include "siblings.hpp"

#include <zklock/path.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace zklock {

namespace {

bool is_same_line(LockKind one, LockKind other) { return (one == LockKind::mutex) == (other == LockKind::mutex); }

}  // namespace

void Sibling::leave(const asio::any_io_executor& executor) {
  const auto all = all_.lock();
  if (!all || is_gone()) return;
  gone_at_ = ++all->departures_;
  all->on_left(*this);
  if (waiters_.empty()) return;
  asio::post(executor, [waiters = std::exchange(waiters_, {})] {
    for (const auto& each : waiters)
      if (const auto waiting = each.gate.lock()) waiting->cancel();
  });
}

void Sibling::wake() const {
  for (const auto& each : waiters_)
    if (const auto waiting = each.gate.lock()) waiting->cancel();
}

void Sibling::vanish() {
  granted_ = false;
  vanished_ = true;
  wake();
  const auto all = all_.lock();
  if (!all) return;
  const auto found = all->present_.find(sequence_);
  if (found != all->present_.end() && found->second.get() == this) all->present_.erase(found);
}

void Sibling::sweep_waiters() {
  std::erase_if(waiters_, [](const Waiter& each) { return each.gate.expired(); });
  next_sweep_ = 2 * waiters_.size() + 8;
}

void Sibling::forget_seen() {
  is_heir_ = false;
  seen_.reset();
}

std::shared_ptr<Sibling> Sibling::waits_for() const {
  auto ahead = waits_for_.lock();
  return ahead && !ahead->is_gone() && !ahead->vanished_ ? ahead : nullptr;
}

std::vector<std::shared_ptr<Sibling>> Sibling::take_heirs() {
  sweep_waiters();
  std::vector<std::shared_ptr<Sibling>> heirs;
  std::size_t bytes = 0;
  for (const Waiter& each : waiters_) {
    auto heir = each.sibling.lock();
    if (!heir) continue;
    bytes += heir->path_.size();
    if (heirs.size() == most_heirs || bytes > most_bytes) break;
    heir->is_heir_ = true;
    heir->seen_.reset();
    heirs.push_back(std::move(heir));
  }
  return heirs;
}

void Sibling::see(error_code seen) {
  seen_ = seen;
  if (const auto handler = std::exchange(on_seen_, nullptr)) handler(seen);
}

bool Sibling::was_misled() const noexcept { return is_heir_ && seen_ && *seen_ == Error::lock_lost; }

void Sibling::on_removed(error_code outcome) {
  removed_ = was_misled() ? make_error_code(Error::no_node) : outcome;
  for (const auto& each : std::exchange(late_heirs_, {}))
    if (const auto heir = each.lock()) hand_on_late(heir);
}

void Sibling::hand_on_late(const std::shared_ptr<Sibling>& heir) {
  heir->is_heir_ = true;
  if (!removed_) return late_heirs_.push_back(heir);
  heir->see(*removed_ == Error::no_node ? make_error_code(Error::lock_lost) : *removed_);
}

bool Sibling::when_seen(std::function<void(error_code)> handler) {
  if (is_heir_ && seen_) handler(*seen_);
  if (is_heir_ && !seen_) on_seen_ = std::move(handler);
  return is_heir_;
}

Awaitable<error_code> Sibling::wait_gone(std::shared_ptr<Sibling> self, Session session,
                                         std::weak_ptr<Sibling> waiter) {
  const auto gate = std::make_shared<Timer>(session.get_executor(), Clock::time_point::max());
  if (self->waiters_.size() >= self->next_sweep_) self->sweep_waiters();
  if (const auto waiting = waiter.lock()) waiting->waits_for_ = self;
  self->waiters_.push_back({gate, std::move(waiter)});
  if (const auto all = self->all_.lock()) all->attend(session);
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  while (!self->is_gone() && !self->vanished_) {
    if (is_final(session.state())) co_return error_of(session.state());
    if (cancellation.cancelled() != asio::cancellation_type::none)
      co_return make_error_code(asio::error::operation_aborted);
    co_await gate->async_wait(use_tuple);
  }
  co_return error_code{};
}

std::shared_ptr<Sibling> Siblings::enter(const Session& session, LockKind kind, std::int32_t sequence,
                                         std::string path) {
  auto sibling = std::make_shared<Sibling>(weak_from_this(), session.id(), kind, sequence, std::move(path));
  const auto before = std::exchange(present_[sequence], sibling);
  if (before) before->wake();  // of a session that is over, or of a directory that was made anew
  return sibling;
}

void Siblings::attend(const Session& session) {
  if (attended_ == session.id()) return;
  wake_all(attended_);
  attended_ = session.id();
  states_.emplace(session.states());
  listen(session.get_executor());
}

void Siblings::listen(const asio::any_io_executor& executor) {
  states_->async_next(asio::bind_executor(
      executor, [weak = weak_from_this(), executor, session = attended_](error_code ended, SessionState state) {
        const auto self = weak.lock();
        if (!self || self->attended_ != session) return;
        if (ended || is_final(state)) return self->wake_all(session);
        self->listen(executor);
      }));
}

void Siblings::wake_all(std::int64_t session) const {
  for (const auto& [sequence, sibling] : present_)
    if (sibling->session_ == session) sibling->wake();
}

void Siblings::on_left(const Sibling& sibling) {
  const auto found = present_.find(sibling.sequence_);
  if (found == present_.end() || found->second.get() != &sibling) return;
  last_ = std::move(found->second);
  present_.erase(found);
}

bool Siblings::Asked::is_of(const Session& other, LockKind others_kind) const {
  return number > 0 && session == other.id() && is_same_line(kind, others_kind);
}

void Siblings::ask(const Session& session, LockKind kind) {
  if (!asked_.is_of(session, kind)) asked_ = {session.id(), kind};
  ++asked_.number;
  if (kind == LockKind::write) ++asked_.writers;
}

void Siblings::answered(const Session& session, LockKind kind) {
  if (!asked_.is_of(session, kind)) return;
  --asked_.number;
  if (kind == LockKind::write) --asked_.writers;
}

/// The last number is the one that a newcomer may have ahead of it.
bool Siblings::leads(const Session& session, LockKind kind) const {
  const bool reads = kind == LockKind::read;
  if (asked_.is_of(session, kind) && (!reads || asked_.writers > 0)) return true;
  if (present_.empty()) return false;
  const Sibling& last = *present_.rbegin()->second;
  const bool tells = !reads || last.kind_ == LockKind::write || last.waits_for();
  return tells && last.session_ == session.id() && is_same_line(last.kind_, kind);
}

std::shared_ptr<Sibling> Siblings::find(const Session& session, LockKind kind, std::int32_t sequence,
                                        std::string_view name) const {
  auto found = find_number(session, kind, sequence);
  return found && node_name(found->path_) == name ? found : nullptr;
}

std::shared_ptr<Sibling> Siblings::find_number(const Session& session, LockKind kind, std::int32_t sequence) const {
  const auto found = present_.find(sequence);
  if (found == present_.end()) return nullptr;
  const bool is_it = found->second->session_ == session.id() && is_same_line(found->second->kind_, kind);
  return is_it ? found->second : nullptr;
}

std::shared_ptr<Sibling> Siblings::right_ahead(const Session& session, LockKind kind, std::int32_t sequence,
                                               Moment asked_for) const {
  if (sequence <= 0) return nullptr;
  if (auto present = find_number(session, kind, sequence - 1)) return present;
  const bool is_it = last_ && last_->sequence_ == sequence - 1 && last_->session_ == session.id() &&
                     is_same_line(last_->kind_, kind) && last_->gone_at_ > asked_for;
  return is_it ? last_ : nullptr;
}

}  // namespace zklock

#include "siblings.hpp"

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
  if (gates_.empty()) return;
  asio::post(executor, [gates = std::exchange(gates_, {})] {
    for (const auto& gate : gates)
      if (const auto waiting = gate.lock()) waiting->cancel();
  });
}

Awaitable<error_code> Sibling::wait_gone(std::shared_ptr<Sibling> self, Session session) {
  const auto gate = std::make_shared<Timer>(session.get_executor(), Clock::time_point::max());
  self->gates_.push_back(gate);
  SessionStateStream states = session.states();
  const auto listens = std::make_shared<bool>(false);
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  while (!self->is_gone()) {
    if (is_final(session.state())) co_return error_of(session.state());
    if (cancellation.cancelled() != asio::cancellation_type::none)
      co_return make_error_code(asio::error::operation_aborted);
    if (!std::exchange(*listens, true)) {
      auto wake = asio::bind_executor(session.get_executor(), [gate, listens](error_code, SessionState) {
        *listens = false;
        gate->cancel();
      });
      states.async_next(std::move(wake));
    }
    co_await gate->async_wait(use_tuple);
  }
  co_return error_code{};
}

std::shared_ptr<Sibling> Siblings::enter(const Session& session, LockKind kind, std::int32_t sequence,
                                         std::string name) {
  auto sibling = std::make_shared<Sibling>(weak_from_this(), session.id(), kind, sequence, std::move(name));
  present_[sequence] = sibling;  // in place of one of a session that is over, if the directory was made anew
  return sibling;
}

void Siblings::on_left(const Sibling& sibling) {
  const auto found = present_.find(sibling.sequence_);
  if (found == present_.end() || found->second.get() != &sibling) return;
  last_ = std::move(found->second);
  present_.erase(found);
}

/// The last number is the one that a newcomer may have ahead of it.
bool Siblings::is_any(const Session& session, LockKind kind) const {
  if (present_.empty()) return false;
  const Sibling& last = *present_.rbegin()->second;
  return last.session_ == session.id() && is_same_line(last.kind_, kind);
}

std::shared_ptr<Sibling> Siblings::find(const Session& session, std::int32_t sequence, std::string_view name) const {
  const auto found = present_.find(sequence);
  if (found == present_.end()) return nullptr;
  const bool is_it = found->second->session_ == session.id() && found->second->name_ == name;
  return is_it ? found->second : nullptr;
}

std::shared_ptr<Sibling> Siblings::find_number(const Session& session, LockKind kind, std::int32_t sequence) const {
  const auto found = present_.find(sequence);
  if (found == present_.end()) return nullptr;
  const bool is_it = found->second->session_ == session.id() && is_same_line(found->second->kind_, kind);
  return is_it ? found->second : nullptr;
}

std::shared_ptr<Sibling> Siblings::right_ahead(const Session& session, LockKind kind, std::int32_t sequence,
                                               Moment asked_for) const {
  if (auto present = find_number(session, kind, sequence - 1)) return present;
  const bool is_it = last_ && last_->sequence_ == sequence - 1 && last_->session_ == session.id() &&
                     is_same_line(last_->kind_, kind) && last_->gone_at_ > asked_for;
  return is_it ? last_ : nullptr;
}

}  // namespace zklock

#include "books.hpp"

#include "folded_path.hpp"

#include <zklock/detail/utf8.hpp>

#include <algorithm>

namespace zklock::metrics {
namespace {

constexpr std::size_t max_cached_paths = 4'096;

/// The index of a value that the list has; else that of the first.
template <class List, class Value>
std::size_t index_of(const List& list, const Value& value) {
  const auto found = std::ranges::find(list, value);
  return found == list.end() ? 0 : static_cast<std::size_t>(found - list.begin());
}

void keep_oldest(std::optional<Clock::time_point>& oldest, Clock::time_point when) {
  oldest = std::min(oldest.value_or(when), when);
}

}  // namespace

Metrics::Books::Books(const MetricsOptions& options) : options_{options}, numbers_{options.buckets} {
  for (const std::string_view operation : operations)
    numbers_.requests.try_emplace(std::string{operation}, options.buckets);
}

// ---- locks

/// The first labels have numbers of their own.
LockNumbers& Metrics::Books::lock_of(std::string_view path) {
  if (const auto known = by_path_.find(path); known != by_path_.end()) return *known->second;
  if (by_path_.size() >= max_cached_paths) by_path_.clear();
  std::string label = options_.labeller(path);
  // Prometheus refuses a whole scrape for one label that is not UTF-8.
  const bool fits = label.size() <= web::max_label_bytes && detail::is_utf8(label);
  const std::size_t own = numbers_.locks.size() - numbers_.locks.count(other_locks);
  if (!fits || (own >= options_.max_locks && !numbers_.locks.contains(label))) label = other_locks;
  LockNumbers& lock = numbers_.locks[std::move(label)];
  by_path_.emplace(path, &lock);
  return lock;
}

KindNumbers& Metrics::Books::kind_of(LockNumbers& lock, LockKind kind) const {
  auto& numbers = lock.kind[index_of(kinds, kind)];
  if (!numbers) numbers.emplace(options_.buckets);
  return *numbers;
}

void Metrics::Books::on_lock(const LockEvent& event) {
  const std::lock_guard lock{mutex_};
  switch (event.phase) {
    case LockPhase::asked: return begin_attempt(event);
    case LockPhase::enqueued:
    case LockPhase::waiting: return enter_queue(event.attempt);
    case LockPhase::granted: end_attempt(event); return begin_grant(event);
    case LockPhase::reentered:
    case LockPhase::timed_out:
    case LockPhase::cancelled:
    case LockPhase::refused:
    case LockPhase::failed: return end_attempt(event);
    case LockPhase::slow: ++lock_of(event.path).slow_waits; return;
    case LockPhase::suspect: return set_suspect(event, true);
    case LockPhase::held_again: return set_suspect(event, false);
    case LockPhase::revocation_requested: ++lock_of(event.path).revocations; return;
    case LockPhase::released:
    case LockPhase::lost: return end_grant(event);
  }
}

void Metrics::Books::begin_attempt(const LockEvent& event) {
  LockNumbers& lock = lock_of(event.path);
  KindNumbers& kind = kind_of(lock, event.kind);
  if (!attempts_.try_emplace(event.attempt, Attempt{&lock, &kind, Clock::now()}).second) return;
  ++kind.waiters;
  if (const auto other = numbers_.locks.find(other_locks); other != numbers_.locks.end() && &other->second == &lock)
    ++numbers_.folded;
}

void Metrics::Books::enter_queue(std::uint64_t attempt) {
  if (const auto found = attempts_.find(attempt); found != attempts_.end()) found->second.in_queue = true;
}

/// A plain re-entry is no attempt, and the further ones of several permits are of an attempt that has ended.
void Metrics::Books::end_attempt(const LockEvent& event) {
  const std::size_t outcome = index_of(outcomes, event.phase);
  const auto found = attempts_.find(event.attempt);
  if (event.phase == LockPhase::reentered && !event.waited) {
    ++kind_of(lock_of(event.path), event.kind).outcome[outcome];
    return;
  }
  if (found == attempts_.end()) return;
  const Attempt& attempt = found->second;
  ++attempt.kind->outcome[outcome];
  --attempt.kind->waiters;
  const bool succeeded = event.phase == LockPhase::granted || event.phase == LockPhase::reentered;
  if (attempt.in_queue || succeeded) attempt.kind->wait.observe(event.waited.value_or(Clock::now() - attempt.since));
  attempts_.erase(found);
}

void Metrics::Books::begin_grant(const LockEvent& event) {
  LockNumbers& lock = lock_of(event.path);
  KindNumbers& kind = kind_of(lock, event.kind);
  const GrantKey key{event.attempt, event.fencing_token};
  if (grants_.try_emplace(key, Grant{&lock, &kind, Clock::now()}).second) ++kind.holders;
}

void Metrics::Books::end_grant(const LockEvent& event) {
  const auto found = grants_.find({event.attempt, event.fencing_token});
  if (found == grants_.end()) return;
  const Grant& grant = found->second;
  --grant.kind->holders;
  grant.kind->hold.observe(event.held.value_or(Clock::now() - grant.since));
  if (grant.is_suspect) --numbers_.leases.suspect;
  if (event.phase == LockPhase::lost) ++grant.lock->lost[index_of(causes, event.cause)];
  grants_.erase(found);
}

void Metrics::Books::set_suspect(const LockEvent& event, bool is_suspect) {
  const auto found = grants_.find({event.attempt, event.fencing_token});
  if (found == grants_.end() || found->second.is_suspect == is_suspect) return;
  found->second.is_suspect = is_suspect;
  is_suspect ? ++numbers_.leases.suspect : --numbers_.leases.suspect;
}

// ---- kept nodes, and what is followed

namespace {

/// An object's last state is none of the list.
template <class List, class State, std::size_t size>
void change(StateNumbers<size>& numbers, const List& list, State before, State state) {
  const auto place = [&](State which) {
    return static_cast<std::size_t>(std::ranges::find(list, which) - list.begin());
  };
  if (const std::size_t from = place(before); from < size && numbers.now[from] > 0) --numbers.now[from];
  const std::size_t to = place(state);
  if (to == size) return;
  ++numbers.changes[to];
  ++numbers.now[to];
}

}  // namespace

void Metrics::Books::on_node(const NodeEvent& event) {
  const std::lock_guard lock{mutex_};
  if (event.before == event.state) {  // the first one
    ++numbers_.nodes.now[index_of(node_phases, event.state.phase)];
  } else if (event.before.phase != event.state.phase) {
    change(numbers_.nodes, node_phases, event.before.phase, event.state.phase);
  }
}

void Metrics::Books::on_follow(const FollowEvent& event) {
  const std::lock_guard lock{mutex_};
  if (event.before == event.state) {  // the first one
    ++numbers_.followed.now[index_of(freshness_states, event.state)];
  } else {
    change(numbers_.followed, freshness_states, event.before, event.state);
  }
}

// ---- requests, sessions, clean-up

void Metrics::Books::on_request(const RequestEvent& event) {
  const std::lock_guard lock{mutex_};
  if (event.phase == RequestPhase::begun) {
    ++numbers_.in_flight;
    return;
  }
  if (numbers_.in_flight > 0) --numbers_.in_flight;
  auto found = numbers_.requests.find(event.operation);
  if (found == numbers_.requests.end())
    found = numbers_.requests.try_emplace(std::string{event.operation}, options_.buckets).first;
  RequestNumbers& request = found->second;
  const std::size_t result = !event.error ? 0 : outcome_of(event.error) == Outcome::ambiguous ? 2 : 1;
  ++request.result[result];
  request.took.observe(event.took);
}

void Metrics::Books::on_retry() {
  const std::lock_guard lock{mutex_};
  ++numbers_.retries;
}

void Metrics::Books::on_state(const StateEvent& event) {
  const std::lock_guard lock{mutex_};
  const bool is_first = event.to == ConnectionState::connected;
  const bool is_next = event.to == ConnectionState::reconnected && event.from == ConnectionState::lost;
  if (is_first || is_next) ++numbers_.sessions;
  if (event.to == ConnectionState::lost) ++numbers_.sessions_lost;
  if (event.to == ConnectionState::suspended) ++numbers_.suspensions;
}

void Metrics::Books::on_cleanup(const CleanupEvent& event) {
  const std::lock_guard lock{mutex_};
  if (event.phase == CleanupPhase::pending) {
    cleanups_.try_emplace(event.number, Clock::now());
  } else {
    cleanups_.erase(event.number);
  }
}

void Metrics::Books::on_health(const HealthEvent& event) {
  const std::lock_guard lock{mutex_};
  if (event.io_delay) numbers_.io_delay.observe(*event.io_delay);
  if (event.health->state == ConnectionState::closed) {
    numbers_.clients.erase(event.client_number);
  } else {
    numbers_.clients[event.client_number] = {*event.health, event.watches};
  }
}

// ---- what is asked

void Metrics::Books::find_oldest() {
  for (auto& [label, lock] : numbers_.locks) {
    lock.oldest_waiter.reset();
    lock.oldest_holder.reset();
  }
  for (const auto& [number, attempt] : attempts_) keep_oldest(attempt.lock->oldest_waiter, attempt.since);
  for (const auto& [key, grant] : grants_) keep_oldest(grant.lock->oldest_holder, grant.since);
  numbers_.oldest_cleanup.reset();
  for (const auto& [number, since] : cleanups_) keep_oldest(numbers_.oldest_cleanup, since);
}

Numbers Metrics::Books::copy() {
  const std::lock_guard lock{mutex_};
  find_oldest();
  numbers_.leases.held = grants_.size() - numbers_.leases.suspect;
  numbers_.cleanups = cleanups_.size();
  return numbers_;
}

LeaseCounts Metrics::Books::leases() const {
  const std::lock_guard lock{mutex_};
  return {grants_.size() - numbers_.leases.suspect, numbers_.leases.suspect};
}

std::size_t Metrics::Books::cleanups_pending() const {
  const std::lock_guard lock{mutex_};
  return cleanups_.size();
}

}  // namespace zklock::metrics

#include "kept_lock.hpp"

#include "kept_lock_node.hpp"

#include <algorithm>

namespace zklock::detail {

/// An acquire that waits without a node.
struct KeptLock::Waiter {
  enum class Outcome { waits, granted, enqueues, enters_again, fails, is_done };

  Waiter(const asio::any_io_executor& serial, const Wanted& wanted)
      : changed{serial}, owner{wanted.owner}, max_handoffs{wanted.keep.handoffs} {}

  AsyncEvent changed;
  Owner owner;
  int max_handoffs;
  Outcome outcome = Outcome::is_done;  // with the KeptLock's mutex, as the next
  Waiters::iterator place{};           // while it waits
  std::shared_ptr<KeptLockNode> node{};
};

/// Ends the wait, whatever it came to.
struct KeptLock::Withdrawal {
  KeptLock& lock;
  std::shared_ptr<Waiter> waiter;
  ~Withdrawal() { lock.withdraw(waiter); }
};

// ---- waiting without a node

Awaitable<Result<KeptLock::Entry>> KeptLock::enter(KeptLock& lock, Wanted wanted) {
  using Outcome = Waiter::Outcome;
  const auto waiter = std::make_shared<Waiter>(lock.serial_, wanted);
  const Withdrawal withdrawal{lock, waiter};
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  const Clock::time_point latest = Clock::now() + wanted.keep.keep;
  for (lock.begin(waiter, wanted);;) {
    {
      const std::lock_guard guard{lock.mutex_};
      if (waiter->outcome != Outcome::waits) break;
    }
    if (cancellation.cancelled() != asio::cancellation_type::none)
      co_return make_error_code(asio::error::operation_aborted);
    if (Clock::now() < latest)
      co_await waiter->changed.wait_until(latest);
    else if (!lock.enqueue_unless_held(waiter))
      co_await waiter->changed.wait_until(Clock::time_point::max());
  }
  Entry entry;
  const std::lock_guard guard{lock.mutex_};
  switch (std::exchange(waiter->outcome, Outcome::is_done)) {
    case Outcome::granted: entry.taken = Taken{std::move(waiter->node)}; break;
    case Outcome::enqueues: entry.front = Front{lock}; break;
    case Outcome::enters_again: entry.enters_again = true; break;
    case Outcome::waits:
    case Outcome::fails:
    case Outcome::is_done: co_return make_error_code(Error::timed_out);
  }
  co_return std::move(entry);
}

void KeptLock::begin(const std::shared_ptr<Waiter>& waiter, const Wanted& wanted) {
  using Outcome = Waiter::Outcome;
  const std::lock_guard guard{mutex_};
  const auto step = next_step(state_, KeptEvent::wanted, !waiters_.empty());
  if (step.action == KeptAction::grant) {
    waiter->node = node_.lock();
    waiter->outcome = Outcome::granted;
    owner_ = wanted.owner;
    state_ = step.next;
  } else if (step.action == KeptAction::wait && owner_ == wanted.owner) {
    waiter->outcome = Outcome::enters_again;
  } else if (step.action == KeptAction::wait && wanted.try_once) {
    waiter->outcome = Outcome::fails;
  } else if (step.action == KeptAction::wait ||
             (state_ == KeptState::free && fronts_ > 0 && is_alone() && !wanted.try_once && wanted.is_connected)) {
    waiter->place = waiters_.insert(waiters_.end(), waiter);
    waiter->outcome = Outcome::waits;
  } else {
    waiter->outcome = Outcome::enqueues;
    ++fronts_;
  }
}

/// False: the lock is held by a node that may be kept, so there is no other client; or it waits to be let in before one.
bool KeptLock::enqueue_unless_held(const std::shared_ptr<Waiter>& waiter) {
  const std::lock_guard guard{mutex_};
  if (state_ != KeptState::free || waiter->outcome != Waiter::Outcome::waits) return false;
  waiters_.erase(waiter->place);
  waiter->outcome = Waiter::Outcome::enqueues;
  ++fronts_;
  return true;
}

/// Its acquire has ended, maybe after it was let in.
void KeptLock::withdraw(const std::shared_ptr<Waiter>& waiter) {
  std::unique_lock guard{mutex_};
  const auto outcome = std::exchange(waiter->outcome, Waiter::Outcome::is_done);
  if (outcome == Waiter::Outcome::waits) waiters_.erase(waiter->place);
  guard.unlock();
  if (outcome == Waiter::Outcome::enqueues) on_front_left();
  if (outcome == Waiter::Outcome::granted) const Taken unused{std::move(waiter->node)};
}

/// In their order: each then makes its node in the iteration of the executor that resumes it.
KeptLock::Waiters KeptLock::flushed(std::size_t staying) {
  Waiters waiters;
  waiters.splice(waiters.end(), waiters_, std::next(waiters_.begin(), static_cast<Waiters::difference_type>(staying)),
                 waiters_.end());
  for (const auto& each : waiters) each->outcome = Waiter::Outcome::enqueues;
  fronts_ += static_cast<int>(waiters.size());
  return waiters;
}

std::size_t KeptLock::may_stay() const {
  int staying = 0;
  for (const auto& each : waiters_) {
    if (staying >= each->max_handoffs - handoffs_) break;
    ++staying;
  }
  return static_cast<std::size_t>(staying);
}

void KeptLock::wake(Waiters waiters) const {
  if (waiters.empty()) return;
  asio::dispatch(serial_, [waiters = std::move(waiters)] {
    for (const auto& each : waiters) each->changed.happen();
  });
}

// ---- the acquires in the queue

void KeptLock::Front::leave() noexcept {
  if (KeptLock* lock = std::exchange(lock_, nullptr)) lock->on_front_left();
}

void KeptLock::Front::fail() {
  if (lock_) lock_->on_stranger();
}

bool KeptLock::Front::become(const std::shared_ptr<KeptLockNode>& node, Owner owner) {
  KeptLock& lock = *lock_;
  const std::lock_guard guard{lock.mutex_};
  if (lock.state_ != KeptState::free) return false;
  lock.state_ = next_step(lock.state_, KeptEvent::armed, false).next;
  lock.node_ = node;
  lock.owner_ = owner;
  lock.handoffs_ = 0;
  --lock.fronts_;
  lock_ = nullptr;
  return true;
}

KeptLock::Front KeptLock::begin_front() {
  const std::lock_guard guard{mutex_};
  ++fronts_;
  return Front{*this};
}

/// The first of those that wait for it makes a node; the others wait for that one.
void KeptLock::on_front_left() noexcept {
  Waiters next;
  {
    const std::lock_guard guard{mutex_};
    if (--fronts_ > 0 || state_ != KeptState::free || waiters_.empty()) return;
    next.splice(next.end(), waiters_, waiters_.begin());
    next.front()->outcome = Waiter::Outcome::enqueues;
    ++fronts_;
  }
  wake(std::move(next));
}

void KeptLock::on_stranger() {
  adjacent_ = 0;
  Waiters waiters;
  {
    const std::lock_guard guard{mutex_};
    if (state_ == KeptState::free) waiters = flushed();
  }
  wake(std::move(waiters));
}

// ---- the kept node

KeptLock::Taken::~Taken() {
  if (node_) node_->take_back_unused(may_keep_);
}

KeptLock::Taken KeptLock::take(Owner owner) {
  const std::lock_guard guard{mutex_};
  if (state_ != KeptState::kept || fronts_ > 0) return {};
  auto node = node_.lock();
  if (!node) return {};
  state_ = next_step(state_, KeptEvent::wanted, false).next;
  owner_ = owner;
  return Taken{std::move(node)};
}

bool KeptLock::release(const KeptLockNode& node, bool may_keep) {
  Waiters woken;
  bool is_over = false;
  {
    const std::lock_guard guard{mutex_};
    const auto current = node_.lock();
    if (current.get() != &node) return true;
    owner_.reset();
    if (!may_keep) {
      state_ = KeptState::asked;
      handoffs_ = no_more_handoffs;
    }
    const bool has_next = state_ == KeptState::asked ? may_stay() > 0 : !waiters_.empty();
    const KeptStep step = next_step(state_, KeptEvent::released, has_next);
    state_ = step.next;
    if (step.action == KeptAction::hand_off) {
      woken.splice(woken.end(), waiters_, waiters_.begin());
      owner_ = woken.front()->owner;
      woken.front()->node = current;
      woken.front()->outcome = Waiter::Outcome::granted;
    }
    is_over = step.action == KeptAction::remove;
    if (is_over) {
      node_.reset();
      woken = flushed();
    }
  }
  wake(std::move(woken));
  return is_over;
}

bool KeptLock::ask(const KeptLockNode& node, Cause cause) {
  Waiters woken;
  bool is_over = false;
  {
    const std::lock_guard guard{mutex_};
    if (node_.lock().get() != &node) return false;
    const KeptStep step = next_step(state_, KeptEvent::asked, !waiters_.empty());
    state_ = step.next;
    if (cause != Cause::another_client) handoffs_ = no_more_handoffs;
    if (step.action == KeptAction::flush) woken = flushed(may_stay());
    is_over = step.action == KeptAction::remove;
    if (is_over) node_.reset();
  }
  wake(std::move(woken));
  return is_over;
}

/// Those that waited may have counted on this one: they make nodes now if they cannot be let in any more.
bool KeptLock::begin_handoff(const KeptLockNode& node, int max_handoffs) {
  Waiters woken;
  {
    const std::lock_guard guard{mutex_};
    if (node_.lock().get() != &node || state_ != KeptState::asked || handoffs_ >= max_handoffs) return false;
    ++handoffs_;
    woken = flushed(may_stay());
  }
  wake(std::move(woken));
  return true;
}

bool KeptLock::is_wanted(const KeptLockNode& node) const {
  const std::lock_guard guard{mutex_};
  return node_.lock().get() == &node && state_ != KeptState::asked;
}

std::shared_ptr<KeptLockNode> KeptLock::node() const {
  const std::lock_guard guard{mutex_};
  return node_.lock();
}

}  // namespace zklock::detail

#include "limits.hpp"
#include "lock_set.hpp"
#include "multi_hold.hpp"

#include <zklock/detail/existing.hpp>
#include <zklock/recipe_kit/blocking.hpp>
#include <zklock/recipes/locks/inter_process_multi_lock.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <exception>

namespace zklock {

using detail::existing;
using detail::LockSet;
using detail::MultiHold;
using detail::WaitPolicy;

namespace {

using Holds = std::shared_ptr<MultiHold>;

/// Acquires one lock after the other. An attempt that gives up destroys its MultiHold, and so releases all that was
/// acquired.
Awaitable<Result<Holds>> acquire_each(std::shared_ptr<LockSet> locks, Owner owner, WaitPolicy wait) {
  auto holds = std::make_shared<MultiHold>(locks);
  for (const std::size_t number : locks->order()) {
    auto [error, lease] = co_await LockSet::async_acquire(locks->locks()[number], owner, wait);
    if (!error) {
      holds->add(std::move(lease));
      continue;
    }
    const bool in_a_hurry = error == Error::timed_out || error == asio::error::operation_aborted;
    if (!in_a_hurry && holds->state() == LeaseState::held) co_await MultiHold::give_back(holds);
    co_return error;
  }
  co_return std::move(holds);
}

/// Acquires all of them, on sessions that still live. If a lock was lost while another one was waited for, the attempt
/// starts over: to acquire the lost one alone would be against the order.
Awaitable<Result<MultiLease>> acquire_all(std::shared_ptr<LockSet> locks, Owner owner, WaitPolicy wait) {
  for (;;) {
    auto holds = co_await acquire_each(locks, owner, wait);
    if (!holds) co_return holds.error();
    if ((*holds)->state() != LeaseState::lost) co_return MultiLease{std::move(*holds)};
  }
}

/// Applies the action to each lock, the last acquired first, also after failures; throws the first failure.
template <class Action>
void undo(LockSet& locks, Action action) {
  std::exception_ptr first;
  for (auto number = locks.order().rbegin(); number != locks.order().rend(); ++number) {
    try {
      action(locks.locks()[*number]);
    } catch (const boost::system::system_error&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

std::vector<InterProcessMutex> mutexes(const ClientHandle& client, const std::vector<std::string>& paths) {
  std::vector<InterProcessMutex> locks;
  for (const std::string& path : paths) locks.emplace_back(client, path);
  return locks;
}

std::vector<InterProcessMutex> shared(const std::vector<std::reference_wrapper<const InterProcessMutex>>& locks) {
  std::vector<InterProcessMutex> others;
  for (const InterProcessMutex& lock : locks) others.push_back(LockSet::share(lock));
  return others;
}

}  // namespace

namespace detail {

const ClientHandle& home_of(const LockSet& locks) { return locks.client(); }

void start_acquire_all(std::shared_ptr<LockSet> locks, Owner owner, WaitPolicy wait, Handler<MultiLease> handler) {
  const auto serial = locks->client().get_executor();
  const Limits limits = limits_of(wait, locks->client());
  // The deadline holds for the whole, and for each lock that is waited for.
  if (limits.deadline) wait.deadline = *limits.deadline;
  auto body = acquire_all(locks, owner, wait);
  spawn_operation(serial, limits.deadline, std::move(handler), std::move(body), locks, limits.at_deadline);
}

}  // namespace detail

InterProcessMultiLock::InterProcessMultiLock(const ClientHandle& client, const std::vector<std::string>& paths)
    : locks_{std::make_shared<LockSet>(mutexes(client, paths))} {}

InterProcessMultiLock::InterProcessMultiLock(const std::vector<std::reference_wrapper<const InterProcessMutex>>& locks)
    : locks_{std::make_shared<LockSet>(shared(locks))} {}

bool InterProcessMultiLock::acquire_within(WaitPolicy wait) {
  LockSet& locks = existing(locks_);
  locks.refuse_to_block();
  const Limits limits = limits_of(wait, locks.client());
  auto outcome = detail::block_until<MultiLease>(limits.deadline, limits.at_deadline, locks.client(), [&](auto token) {
    initiate_acquire(Owner::this_thread(), wait, std::move(token));
  });
  if (outcome.error == Error::timed_out) return false;
  if (outcome.error)
    throw boost::system::system_error{outcome.error, explain(locks.describe(), outcome.error, locks.client())};
  auto leases = std::move(*outcome.value).into_holds()->take();
  for (std::size_t i = 0; i < leases.size(); ++i) locks.hand_to_thread(i, std::move(leases[i]));
  return true;
}

bool InterProcessMultiLock::release_within(Deadline deadline) {
  LockSet& locks = existing(locks_);
  locks.refuse_to_block();
  bool in_time = true;
  undo(locks, [&](InterProcessMutex& lock) {
    if (!deadline) return lock.release();
    const auto left = *deadline - Clock::now();
    const bool is_over = left <= left.zero();
    if (is_over) lock.unlock();
    in_time &= !is_over && lock.release(left);
  });
  return in_time;
}

void InterProcessMultiLock::unlock() {
  undo(existing(locks_), [](InterProcessMutex& lock) { lock.unlock(); });
}

bool InterProcessMultiLock::is_acquired_in_this_process() const {
  return locks_ && std::ranges::all_of(locks_->locks(), &InterProcessMutex::is_acquired_in_this_process);
}

bool InterProcessMultiLock::is_owned_by_current_thread() const {
  return locks_ && std::ranges::all_of(locks_->locks(), &InterProcessMutex::is_owned_by_current_thread);
}

std::vector<std::int64_t> InterProcessMultiLock::fencing_tokens() const {
  std::vector<std::int64_t> tokens;
  if (!locks_) return tokens;
  for (const InterProcessMutex& lock : locks_->locks()) tokens.push_back(lock.fencing_token());
  return tokens;
}

}  // namespace zklock

#include "limits.hpp"
#include "lock_set.hpp"
#include "multi_hold.hpp"

#include <zklock/detail/blocking.hpp>
#include <zklock/detail/existing.hpp>
#include <zklock/recipes/inter_process_multi_lock.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <exception>

namespace zklock {

using detail::existing;
using detail::LockSet;
using detail::MultiHold;
using detail::Patience;

namespace {

using Holds = std::shared_ptr<MultiHold>;

/// One lock after the other. Whoever gives up lets go of the hold, and so of all that was acquired.
Awaitable<Result<Holds>> acquire_each(std::shared_ptr<LockSet> locks, Owner owner, Patience patience) {
  auto holds = std::make_shared<MultiHold>(locks);
  for (const std::size_t number : locks->order()) {
    auto [error, lease] = co_await LockSet::async_acquire(locks->locks()[number], owner, patience);
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

/// All of them, of sessions that live. Whoever has lost one while it waited for another starts over: to acquire that
/// one alone would be against the order.
Awaitable<Result<MultiLease>> acquire_all(std::shared_ptr<LockSet> locks, Owner owner, Patience patience) {
  for (;;) {
    auto holds = co_await acquire_each(locks, owner, patience);
    if (!holds) co_return holds.error();
    if ((*holds)->state() != LeaseState::lost) co_return MultiLease{std::move(*holds)};
  }
}

/// Does it to each lock, the last acquired first, whatever comes of the others; throws the first failure.
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

asio::any_io_executor serial_executor(const LockSet& locks) { return locks.client().get_executor(); }
asio::any_io_executor callback_executor(const LockSet& locks) { return locks.client().callback_executor(); }

void refuse_after_fork(const LockSet& locks) {
  if (locks.client().in_forked_child())
    throw boost::system::system_error{make_error_code(Error::used_after_fork), locks.describe()};
}

void start_acquire_all(std::shared_ptr<LockSet> locks, Owner owner, Patience patience, Handler<MultiLease> handler) {
  const auto serial = locks->client().get_executor();
  const Limits limits = limits_of(patience, locks->client());
  // The deadline is that of the whole, and of whichever lock is waited for.
  if (limits.deadline) patience.deadline = *limits.deadline;
  auto body = acquire_all(locks, owner, patience);
  spawn_operation(serial, limits.deadline, std::move(handler), std::move(body), locks, limits.at_deadline);
}

}  // namespace detail

InterProcessMultiLock::InterProcessMultiLock(const ClientHandle& client, const std::vector<std::string>& paths)
    : locks_{std::make_shared<LockSet>(mutexes(client, paths))} {}

InterProcessMultiLock::InterProcessMultiLock(const std::vector<std::reference_wrapper<const InterProcessMutex>>& locks)
    : locks_{std::make_shared<LockSet>(shared(locks))} {}

void InterProcessMultiLock::acquire() { static_cast<void>(acquire(Patience{})); }

bool InterProcessMultiLock::acquire(Patience patience) {
  LockSet& locks = existing(locks_);
  locks.refuse_to_block();
  const Limits limits = limits_of(patience, locks.client());
  auto outcome = detail::block_until<MultiLease>(
      limits.deadline, limits.at_deadline, locks.client().get_executor(),
      [&](auto token) { initiate_acquire(Owner::this_thread(), patience, std::move(token)); });
  if (outcome.error == Error::timed_out) return false;
  if (outcome.error)
    throw boost::system::system_error{outcome.error, explain(locks.describe(), outcome.error, locks.client())};
  locks.hand_to_thread(std::move(*outcome.value));
  return true;
}

void InterProcessMultiLock::release() { static_cast<void>(release(Deadline{})); }

bool InterProcessMultiLock::release(Deadline deadline) {
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

#include "blocking_call.hpp"
#include "fail_lock.hpp"
#include "kept_acquire.hpp"
#include "limits.hpp"
#include "participants.hpp"
#include "queue_position.hpp"
#include "thread_leases.hpp"

#include <zklock/detail/existing.hpp>
#include <zklock/path.hpp>
#include <zklock/recipe_kit/blocking.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/lock_path.hpp>

namespace zklock {

using detail::existing;
using detail::fail_lock;

namespace detail {

const ClientHandle& home_of(const ThreadLeases& lock) { return lock.core()->client(); }

void start_participants(std::shared_ptr<ThreadLeases> lock, LockKind queue, std::optional<LockKind> only,
                        Handler<std::vector<LockParticipant>> handler) {
  const auto core = lock->core();
  const Deadline deadline = after(core->client().config().operation_timeout);
  auto body = list_participants(core, queue, only, deadline);
  spawn_operation(core->client().get_executor(), deadline, std::move(handler), std::move(body), core);
}

}  // namespace detail

InterProcessMutex::InterProcessMutex(const ClientHandle& client, std::string path, LockSettings settings)
    : settings_{settings} {
  validate_lock_path(path);
  lock_ = detail::ThreadLeases::of(client, path, settings.naming);
}

const std::string& InterProcessMutex::path() const noexcept {
  static const std::string none;
  return lock_ ? lock_->core()->path() : none;
}

bool InterProcessMutex::acquire_within(detail::WaitPolicy wait) {
  detail::refuse_after_fork(existing(lock_));
  if (const auto share = lock_->held(kind_)) {  // again: nothing blocks
    if (share->state() == LeaseState::lost) fail_lock(make_error_code(LockError::lock_lost), path());
    if (share->held_lock().enter() == detail::HeldLock::Entered::too_often)
      fail_lock(make_error_code(LockError::too_many_reentries), path());
    lock_->again(kind_);
    return true;
  }
  const auto& client = lock_->core()->client();
  if (const error_code error = detail::why_not_block(client)) fail_lock(error, path());
  if (settings_.keep.count() > 0)
    if (auto share = acquire_at_once(lock_->core(), Owner::this_thread(), kind_, detail::KeepSettings{settings_})) {
      lock_->add(kind_, std::move(share));
      return true;
    }
  const Limits limits = limits_of(wait, client);
  auto outcome = detail::block_until<Lease>(limits.deadline, limits.at_deadline, client, [&](auto token) {
    initiate_acquire(Owner::this_thread(), wait, std::move(token));
  });
  if (outcome.error == Error::timed_out) return false;
  if (outcome.error) fail_lock(outcome.error, explain(path(), outcome.error, client));
  lock_->add(kind_, std::move(*outcome.value).into_share());
  return true;
}

bool InterProcessMutex::release_within(Deadline deadline) {
  detail::refuse_after_fork(existing(lock_));
  const auto& client = lock_->core()->client();
  const std::uint32_t times = lock_->times(kind_);
  if (times == 0) fail_lock(make_error_code(LockError::not_owner), path());
  if (times == 1)
    if (const error_code error = detail::why_not_block(client)) fail_lock(error, path());
  const auto last = lock_->remove(kind_);
  if (!last) return true;
  const auto outcome = detail::block_until<>(deadline, Error::timed_out, client, [&](auto token) {
    detail::start_release(last, deadline, detail::Handler<>{std::move(token)});
  });
  if (outcome.error == Error::timed_out) return false;
  if (outcome.error) fail_lock(outcome.error, path());
  return true;
}

void InterProcessMutex::unlock() {
  detail::refuse_after_fork(existing(lock_));
  detail::release_in_background(lock_->remove(kind_));
}

bool InterProcessMutex::is_acquired_in_this_process() const { return lock_ && lock_->core()->is_held(kind_); }

bool InterProcessMutex::is_owned_by_current_thread() const {
  const auto share = lock_ ? lock_->held(kind_) : nullptr;
  return share && share->state() == LeaseState::held;
}

std::vector<LockParticipant> InterProcessMutex::participants() const {
  detail::refuse_after_fork(existing(lock_));
  return detail::call_blocking<std::vector<LockParticipant>>(
      lock_->core()->client(), "lock " + path(), [this](auto token) { async_participants(std::move(token)); });
}

std::shared_ptr<detail::LeaseShare> InterProcessMutex::held() const {
  auto share = existing(lock_).held(kind_);
  if (!share) fail_lock(make_error_code(LockError::not_owner), path());
  return share;
}

Transaction InterProcessMutex::guard() const { return held()->guard(); }

Clock::time_point InterProcessMutex::valid_until() const {
  const auto share = lock_ ? lock_->held(kind_) : nullptr;
  return share ? share->valid_until() : Clock::time_point{};
}

std::int64_t InterProcessMutex::fencing_token() const {
  const auto share = lock_ ? lock_->held(kind_) : nullptr;
  return share && share->state() != LeaseState::lost ? share->held_lock().fencing_token() : 0;
}

}  // namespace zklock

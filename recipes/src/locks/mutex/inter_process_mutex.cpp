#include "blocking_call.hpp"
#include "contender.hpp"
#include "contention.hpp"
#include "participants.hpp"
#include "thread_holds.hpp"

#include <zklock/detail/blocking.hpp>
#include <zklock/detail/existing.hpp>
#include <zklock/path.hpp>
#include <zklock/recipes/inter_process_mutex.hpp>

namespace zklock {

using detail::existing;

namespace detail {

asio::any_io_executor serial_executor(const ThreadHolds& lock) { return lock.core()->client().get_executor(); }
asio::any_io_executor callback_executor(const ThreadHolds& lock) { return lock.core()->client().callback_executor(); }

void refuse_after_fork(const ThreadHolds& lock) {
  if (lock.core()->client().in_forked_child())
    throw boost::system::system_error{make_error_code(Error::used_after_fork), "lock " + lock.core()->path()};
}

void start_acquire(std::shared_ptr<ThreadHolds> lock, LockKind kind, Owner owner, Patience patience,
                   Handler<Lease> handler) {
  const auto core = lock->core();
  const Limits limits = limits_of(patience, core->client());
  auto body = acquire(core, owner, kind, limits);
  spawn_operation(core->client().get_executor(), limits.deadline, std::move(handler), std::move(body), core,
                  limits.at_deadline);
}

void start_participants(std::shared_ptr<ThreadHolds> lock, LockKind line, std::optional<LockKind> only,
                        Handler<std::vector<Participant>> handler) {
  const auto core = lock->core();
  auto body = list_participants(core, line, only);
  spawn_operation(core->client().get_executor(), {}, std::move(handler), std::move(body), core);
}

}  // namespace detail

namespace {

[[noreturn]] void fail(error_code error, const std::string& path) {
  throw boost::system::system_error{error, "lock " + path};
}

}  // namespace

InterProcessMutex::InterProcessMutex(const ClientHandle& client, std::string path, LockNaming naming) {
  validate_lock_path(path);
  lock_ = detail::ThreadHolds::of(client, path, naming);
}

const std::string& InterProcessMutex::path() const noexcept {
  static const std::string none;
  return lock_ ? lock_->core()->path() : none;
}

void InterProcessMutex::acquire() { static_cast<void>(acquire(detail::Patience{})); }

bool InterProcessMutex::acquire(detail::Patience patience) {
  detail::refuse_after_fork(existing(lock_));
  const auto& client = lock_->core()->client();
  if (client.blocking_would_deadlock()) fail(make_error_code(Error::would_deadlock), path());
  if (const auto hold = lock_->held(kind_)) {
    if (hold->state() == LeaseState::lost) fail(make_error_code(Error::lock_lost), path());
    if (hold->holding().enter() == detail::Holding::Entered::too_often)
      fail(make_error_code(Error::too_many_reentries), path());
    lock_->again(kind_);
    return true;
  }
  const Limits limits = limits_of(patience, client);
  auto outcome = detail::block_until<Lease>(
      limits.deadline, limits.at_deadline, client.get_executor(),
      [&](auto token) { initiate_acquire(Owner::this_thread(), patience, std::move(token)); });
  if (outcome.error == Error::timed_out) return false;
  if (outcome.error) fail(outcome.error, explain(path(), outcome.error, client));
  lock_->add(kind_, std::move(*outcome.value).into_hold());
  return true;
}

void InterProcessMutex::release() { static_cast<void>(release(Deadline{})); }

bool InterProcessMutex::release(Deadline deadline) {
  detail::refuse_after_fork(existing(lock_));
  const auto& client = lock_->core()->client();
  if (!lock_->held(kind_)) fail(make_error_code(Error::not_owner), path());
  if (client.blocking_would_deadlock()) fail(make_error_code(Error::would_deadlock), path());
  const auto last = lock_->remove(kind_);
  if (!last) return true;
  const auto outcome = detail::block_until<>(deadline, Error::timed_out, client.get_executor(), [&](auto token) {
    detail::start_release(last, deadline, detail::Handler<>{std::move(token)});
  });
  if (outcome.error == Error::timed_out) return false;
  if (outcome.error) fail(outcome.error, path());
  return true;
}

void InterProcessMutex::unlock() {
  detail::refuse_after_fork(existing(lock_));
  detail::release_in_background(lock_->remove(kind_));
}

bool InterProcessMutex::is_acquired_in_this_process() const { return lock_ && lock_->core()->is_held(kind_); }

bool InterProcessMutex::is_owned_by_current_thread() const {
  const auto hold = lock_ ? lock_->held(kind_) : nullptr;
  return hold && hold->state() == LeaseState::held;
}

std::vector<Participant> InterProcessMutex::participants() const {
  detail::refuse_after_fork(existing(lock_));
  return detail::call_blocking<std::vector<Participant>>(lock_->core()->client(), "lock " + path(),
                                                         [this](auto token) { async_participants(std::move(token)); });
}

std::shared_ptr<detail::Hold> InterProcessMutex::held() const {
  auto hold = existing(lock_).held(kind_);
  if (!hold) fail(make_error_code(Error::not_owner), path());
  return hold;
}

Transaction InterProcessMutex::guard() const { return held()->guard(); }

Clock::time_point InterProcessMutex::valid_until() const {
  const auto hold = lock_ ? lock_->held(kind_) : nullptr;
  return hold ? hold->valid_until() : Clock::time_point{};
}

std::int64_t InterProcessMutex::fencing_token() const {
  const auto hold = lock_ ? lock_->held(kind_) : nullptr;
  return hold && hold->state() != LeaseState::lost ? hold->holding().fencing_token() : 0;
}

}  // namespace zklock

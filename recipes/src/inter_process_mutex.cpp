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

asio::any_io_executor callback_executor(const ThreadHolds& lock) { return lock.core()->client().callback_executor(); }

void refuse_after_fork(const ThreadHolds& lock) {
  if (lock.core()->client().in_forked_child())
    throw boost::system::system_error{make_error_code(Error::used_after_fork), "lock " + lock.core()->path()};
}

void start_acquire(std::shared_ptr<ThreadHolds> lock, LockKind kind, Owner owner, Patience patience,
                   Handler<Lease> handler) {
  const auto core = lock->core();
  const Deadline deadline = patience.kind == Patience::Kind::until ? Deadline{patience.deadline} : std::nullopt;
  auto body = acquire(core, owner, kind, patience.kind == Patience::Kind::try_once);
  spawn_operation(core->client().get_executor(), deadline, std::move(handler), std::move(body), core);
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
  auto outcome = detail::block_on<Lease>(
      client.get_executor(), [&](auto token) { initiate_acquire(Owner::this_thread(), patience, std::move(token)); });
  if (outcome.error == Error::timed_out) return false;
  if (outcome.error) fail(outcome.error, path());
  lock_->add(kind_, std::move(*outcome.value).into_hold());
  return true;
}

void InterProcessMutex::release() {
  detail::refuse_after_fork(existing(lock_));
  const auto& client = lock_->core()->client();
  if (!lock_->held(kind_)) fail(make_error_code(Error::not_owner), path());
  if (client.blocking_would_deadlock()) fail(make_error_code(Error::would_deadlock), path());
  const auto last = lock_->remove(kind_);
  if (!last) return;
  const auto outcome = detail::block_on(
      client.get_executor(), [&](auto token) { detail::start_release(last, detail::Handler<>{std::move(token)}); });
  if (outcome.error) fail(outcome.error, path());
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

std::shared_ptr<detail::Hold> InterProcessMutex::held() const {
  auto hold = existing(lock_).held(kind_);
  if (!hold) fail(make_error_code(Error::not_owner), path());
  return hold;
}

Transaction InterProcessMutex::guard() const { return held()->guard(); }

Clock::time_point InterProcessMutex::valid_until() const {
  const auto hold = lock_ ? lock_->held(kind_) : nullptr;
  return hold ? hold->valid_until() : Clock::time_point::min();
}

std::int64_t InterProcessMutex::fencing_token() const {
  const auto hold = lock_ ? lock_->held(kind_) : nullptr;
  return hold && hold->state() != LeaseState::lost ? hold->holding().fencing_token() : 0;
}

}  // namespace zklock

#include "fail_lock.hpp"
#include "semaphore_core.hpp"

#include <zklock/detail/existing.hpp>
#include <zklock/recipe_kit/blocking.hpp>
#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>

#include <algorithm>
#include <map>
#include <mutex>

namespace zklock {

using detail::existing;
using detail::fail_lock;

/// What blocking calls of one object have acquired. At most one of the leases is not lost. The lost ones stay until
/// their threads release them, so that none of these threads releases what another thread has acquired since.
///
/// Threads: any.
class InterProcessSemaphoreMutex::Held {
 public:
  /// The state of the calling thread's lease; std::nullopt: it has acquired nothing.
  [[nodiscard]] std::optional<LeaseState> own_state() const {
    const std::lock_guard lock{mutex_};
    const auto own = leases_.find(Owner::this_thread());
    return own == leases_.end() ? std::nullopt : std::optional{own->second.state()};
  }

  void add(Lease lease) {
    const std::lock_guard lock{mutex_};
    leases_.insert_or_assign(Owner::this_thread(), std::move(lease));
  }

  /// Takes out the lease that the calling thread may release. Throws LockError::not_owner.
  [[nodiscard]] Lease take(const std::string& path) {
    const std::lock_guard lock{mutex_};
    const auto found = find();
    if (found == leases_.end()) fail_lock(LockError::not_owner, path);
    return std::move(leases_.extract(found).mapped());
  }

  [[nodiscard]] std::int64_t fencing_token() const {
    const std::lock_guard lock{mutex_};
    const auto found = find();
    return found == leases_.end() || found->second.state() == LeaseState::lost ? 0 : found->second.fencing_token();
  }

 private:
  /// The thread's own lease, else the one that is not lost, else any.
  [[nodiscard]] std::map<Owner, Lease>::const_iterator find() const {
    const auto own = leases_.find(Owner::this_thread());
    if (own != leases_.end()) return own;
    const auto live =
        std::ranges::find_if(leases_, [](const auto& entry) { return entry.second.state() != LeaseState::lost; });
    return live != leases_.end() ? live : leases_.begin();
  }

  mutable std::mutex mutex_;
  std::map<Owner, Lease> leases_;  // by the owner that acquired them
};

InterProcessSemaphoreMutex::InterProcessSemaphoreMutex(const ClientHandle& client, std::string path)
    : semaphore_{client, std::move(path), 1}, held_{std::make_shared<Held>()} {}

InterProcessSemaphoreMutex::InterProcessSemaphoreMutex(const ClientHandle& client, std::string path,
                                                       LockSettings settings)
    : semaphore_{client, std::move(path), settings}, held_{std::make_shared<Held>()} {}

bool InterProcessSemaphoreMutex::acquire_within(detail::WaitPolicy wait) {
  detail::refuse_after_fork(existing(semaphore_.core_));
  const auto own = held_->own_state();
  if (own == LeaseState::lost) fail_lock(LockError::lock_lost, path());
  if (own && wait.kind == detail::WaitPolicy::Kind::forever) fail_lock(Error::would_deadlock, path());
  auto lease = semaphore_.acquire(wait);
  if (!lease) return false;
  held_->add(std::move(*lease));
  return true;
}

bool InterProcessSemaphoreMutex::release_within(Deadline deadline) {
  detail::refuse_after_fork(existing(semaphore_.core_));
  const auto& client = semaphore_.core_->client();
  if (const error_code error = detail::why_not_block(client)) fail_lock(error, path());
  const auto share = held_->take(path()).into_share();
  const auto outcome = detail::block_until<>(deadline, Error::timed_out, client, [&](auto token) {
    detail::start_release(share, deadline, detail::Handler<>{std::move(token)});
  });
  if (outcome.error == Error::timed_out) return false;
  if (outcome.error) fail_lock(outcome.error, path());
  return true;
}

void InterProcessSemaphoreMutex::unlock() {
  detail::refuse_after_fork(existing(semaphore_.core_));
  static_cast<void>(held_->take(path()));
}

bool InterProcessSemaphoreMutex::is_acquired_in_this_process() const {
  return semaphore_.core_ && semaphore_.core_->leases()->is_held(LockKind::permit);
}

std::int64_t InterProcessSemaphoreMutex::fencing_token() const { return held_ ? held_->fencing_token() : 0; }

}  // namespace zklock

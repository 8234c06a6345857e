#include "blocking_call.hpp"
#include "thread_leases.hpp"

#include <zklock/detail/existing.hpp>
#include <zklock/path.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/lock_path.hpp>

namespace zklock {

namespace {

std::shared_ptr<detail::ThreadLeases> checked(const ClientHandle& client, const std::string& path, LockNaming naming) {
  validate_lock_path(path);
  return detail::ThreadLeases::of(client, path, naming);
}

}  // namespace

InterProcessReadWriteLock::InterProcessReadWriteLock(const ClientHandle& client, const std::string& path,
                                                     LockSettings settings)
    : InterProcessReadWriteLock{checked(client, path, settings.naming), settings} {}

std::vector<LockParticipant> InterProcessReadWriteLock::participants() const {
  detail::refuse_after_fork(detail::existing(write_.lock_));
  return detail::call_blocking<std::vector<LockParticipant>>(
      write_.lock_->core()->client(), "lock " + path(), [this](auto token) { async_participants(std::move(token)); });
}

}  // namespace zklock

#include "thread_holds.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/inter_process_read_write_lock.hpp>

namespace zklock {

namespace {

std::shared_ptr<detail::ThreadHolds> checked(const ClientHandle& client, const std::string& path, LockNaming naming) {
  validate_lock_path(path);
  return detail::ThreadHolds::of(client, path, naming);
}

}  // namespace

InterProcessReadWriteLock::InterProcessReadWriteLock(const ClientHandle& client, const std::string& path,
                                                     LockNaming naming)
    : InterProcessReadWriteLock{checked(client, path, naming)} {}

}  // namespace zklock

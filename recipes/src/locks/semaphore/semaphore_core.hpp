// The state that the operations of one semaphore share.
#pragma once

#include "lock_core.hpp"
#include "permit_count.hpp"

#include <zklock/client.hpp>
#include <zklock/path.hpp>

#include <memory>
#include <string>

namespace zklock::detail {

/// Immutable, except for the wait queues, which all semaphores of the client on the path share. Lives as long as a
/// semaphore object or an operation does.
///
/// Threads: any.
class SemaphoreCore {
 public:
  SemaphoreCore(const ClientHandle& client, std::string path, PermitCount count, KeepSettings keep = {})
      : path_{std::move(path)},
        count_{std::move(count)},
        keep_{keep},
        locks_{LockCore::of(client, join_path(path_, "locks"))},
        leases_{LockCore::of(client, join_path(path_, "leases"))} {}

  [[nodiscard]] const ClientHandle& client() const noexcept { return locks_->client(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const PermitCount& count() const noexcept { return count_; }
  /// How the only permit is kept; off if there may be more.
  [[nodiscard]] const KeepSettings& keep() const noexcept { return keep_; }
  /// The mutex without which no permit is acquired.
  [[nodiscard]] const std::shared_ptr<LockCore>& locks() const noexcept { return locks_; }
  /// The directory of the permits; it has no waiters.
  [[nodiscard]] const std::shared_ptr<LockCore>& leases() const noexcept { return leases_; }

 private:
  std::string path_;
  PermitCount count_;
  KeepSettings keep_;
  std::shared_ptr<LockCore> locks_;
  std::shared_ptr<LockCore> leases_;
};

}  // namespace zklock::detail

// The parts of a multi-lock, and the order in which everybody acquires them.
#pragma once

#include <zklock/client.hpp>
#include <zklock/detail/spawn.hpp>
#include <zklock/recipes/inter_process_multi_lock.hpp>

#include <memory>
#include <string>
#include <vector>

namespace zklock::detail {

/// Threads: any.
class LockSet {
 public:
  /// Throws Error::bad_arguments without any lock, Error::would_deadlock if two would wait for each other.
  explicit LockSet(std::vector<InterProcessMutex> locks);
  /// Another object of the same lock.
  [[nodiscard]] static InterProcessMutex share(const InterProcessMutex& lock);

  /// As the caller has named them.
  [[nodiscard]] std::vector<InterProcessMutex>& locks() noexcept { return locks_; }
  [[nodiscard]] const std::vector<InterProcessMutex>& locks() const noexcept { return locks_; }
  /// Their numbers there, the one to acquire first first.
  [[nodiscard]] const std::vector<std::size_t>& order() const noexcept { return order_; }
  /// Of one of them: operations on all run on its executor.
  [[nodiscard]] const ClientHandle& client() const noexcept;
  /// For messages.
  [[nodiscard]] std::string describe() const;

  /// Throws Error::would_deadlock where the work of any of the clients would have to wait for this call.
  void refuse_to_block() const;
  [[nodiscard]] static auto async_acquire(const InterProcessMutex& lock, Owner owner, Patience patience) {
    return lock.initiate_acquire(owner, patience, use_tuple);
  }
  /// What was acquired for the calling thread is its own from now on, to be released by blocking calls.
  void hand_to_thread(MultiLease lease);

 private:
  std::vector<InterProcessMutex> locks_;
  std::vector<std::size_t> order_;
};

}  // namespace zklock::detail

// The parts of a multi-lock, and the order in which all clients acquire them.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/inter_process_multi_lock.hpp>

#include <memory>
#include <string>
#include <vector>

namespace zklock::detail {

/// Threads: any.
class LockSet {
 public:
  /// Throws Error::bad_arguments without any lock, Error::would_deadlock if two would wait for each other.
  explicit LockSet(std::vector<InterProcessMutex> locks);
  /// Makes another object of the same lock.
  [[nodiscard]] static InterProcessMutex share(const InterProcessMutex& lock);

  /// The locks in the order in which the caller has named them.
  [[nodiscard]] std::vector<InterProcessMutex>& locks() noexcept { return locks_; }
  [[nodiscard]] const std::vector<InterProcessMutex>& locks() const noexcept { return locks_; }
  /// Their indices in locks(), in the order of acquiring.
  [[nodiscard]] const std::vector<std::size_t>& order() const noexcept { return order_; }
  /// The client of one of the locks: operations on all of them run on its executor.
  [[nodiscard]] const ClientHandle& client() const noexcept;
  /// Describes the set for messages.
  [[nodiscard]] std::string describe() const;

  /// Throws Error::blocking_in_handler where the work of any of the clients would have to wait for this call.
  void refuse_to_block() const;
  [[nodiscard]] static auto async_acquire(const InterProcessMutex& lock, Owner owner, WaitPolicy wait) {
    return lock.initiate_acquire(owner, wait, use_tuple);
  }
  /// Gives the lease of the lock of that number to the calling thread, which releases it by blocking calls.
  void hand_to_thread(std::size_t number, Lease lease);

 private:
  std::vector<InterProcessMutex> locks_;
  std::vector<std::size_t> order_;
};

}  // namespace zklock::detail

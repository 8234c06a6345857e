// The state that a multi-lock's lease refers to.
#pragma once

#include "lock_set.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/lease.hpp>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace zklock::detail {

/// The leases of the locks of a set that are acquired so far. Releases them at the end of its life, the last acquired
/// first, in the background.
///
/// Threads: the const functions, any; the rest one at a time.
class MultiHold {
 public:
  explicit MultiHold(std::shared_ptr<const LockSet> locks);
  MultiHold(const MultiHold&) = delete;
  MultiHold& operator=(const MultiHold&) = delete;
  ~MultiHold();

  [[nodiscard]] const LockSet& locks() const noexcept { return *locks_; }
  /// In the order in which the caller has named their locks; empty for a lock that is not acquired.
  [[nodiscard]] std::span<const Lease> leases() const noexcept { return leases_; }
  /// The worst state among the acquired leases.
  [[nodiscard]] LeaseState state() const noexcept;

  /// Adds the lease of the next lock in the order.
  void add(Lease lease);
  [[nodiscard]] std::vector<Lease> take() { return std::exchange(leases_, {}); }

  /// Releases all, the last acquired first, in one flight; waits until that is done, and gives the first failure. Runs
  /// on the executor of the set's client. If cancelled, the release goes on unattended.
  [[nodiscard]] static Awaitable<error_code> give_back(std::shared_ptr<MultiHold> self);

 private:
  /// Applies the action to the acquired leases, the last first.
  template <class Action>
  void in_reverse(Action action);

  std::shared_ptr<const LockSet> locks_;
  std::vector<Lease> leases_;
  std::size_t acquired_ = 0;
};

}  // namespace zklock::detail

// What a multi-lock's lease refers to.
#pragma once

#include "lock_set.hpp"

#include <zklock/detail/spawn.hpp>
#include <zklock/recipes/lease.hpp>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace zklock::detail {

/// The leases of those locks of a set that are acquired by now. Gives them back at the end of its life, the last
/// acquired first, in the background.
///
/// Threads: the const functions, any; the rest one at a time.
class MultiHold {
 public:
  explicit MultiHold(std::shared_ptr<const LockSet> locks);
  MultiHold(const MultiHold&) = delete;
  MultiHold& operator=(const MultiHold&) = delete;
  ~MultiHold();

  [[nodiscard]] const LockSet& locks() const noexcept { return *locks_; }
  /// As the caller has named their locks; empty for what is not acquired.
  [[nodiscard]] std::span<const Lease> leases() const noexcept { return leases_; }
  /// Of what is acquired, the worst.
  [[nodiscard]] LeaseState state() const noexcept;

  /// That of the next lock in order.
  void add(Lease lease);
  [[nodiscard]] std::vector<Lease> take() { return std::exchange(leases_, {}); }

  /// Gives all back, the last acquired first, in one flight; waits until that is done, and gives the first failure. On
  /// the executor of the set's client. Cancelled, it goes on unattended.
  [[nodiscard]] static Awaitable<error_code> give_back(std::shared_ptr<MultiHold> self);

 private:
  /// Of what is acquired, the last first.
  template <class Action>
  void in_reverse(Action action);

  std::shared_ptr<const LockSet> locks_;
  std::vector<Lease> leases_;
  std::size_t acquired_ = 0;
};

}  // namespace zklock::detail

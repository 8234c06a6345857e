// The locks that threads hold by blocking calls.
#pragma once

#include "lock_core.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace zklock::detail {

/// The state that the lock objects of one client on one path share. The last of them to be destroyed releases what
/// threads hold.
///
/// Threads: any.
class ThreadLeases {
 public:
  explicit ThreadLeases(std::shared_ptr<LockCore> core) noexcept : core_{std::move(core)} {}
  ThreadLeases(const ThreadLeases&) = delete;
  ThreadLeases& operator=(const ThreadLeases&) = delete;
  ~ThreadLeases();
  /// Finds or makes that of the client, the path and the names; `path` is valid.
  static std::shared_ptr<ThreadLeases> of(const ClientHandle& client, const std::string& path, LockNaming naming);

  [[nodiscard]] const std::shared_ptr<LockCore>& core() const noexcept { return core_; }

  // For the calling thread:

  /// Null: the thread holds nothing.
  [[nodiscard]] std::shared_ptr<LeaseShare> held(LockKind kind) const;
  /// How often it holds that; 0: it does not.
  [[nodiscard]] std::uint32_t times(LockKind kind) const;
  /// Adds an acquire, the first one or a further one.
  void add(LockKind kind, std::shared_ptr<LeaseShare> share);
  /// Counts another acquire of what the thread holds.
  void again(LockKind kind);
  /// Counts one acquire less. Gives the lease share if that was the last, which the caller has to release. Throws
  /// LockError::not_owner.
  [[nodiscard]] std::shared_ptr<LeaseShare> remove(LockKind kind);

 private:
  using Key = std::pair<Owner, LockKind>;
  struct Entry {
    std::shared_ptr<LeaseShare> share;
    std::uint32_t times = 1;
  };

  std::shared_ptr<LockCore> core_;
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

}  // namespace zklock::detail

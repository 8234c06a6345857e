// What threads hold by blocking calls.
#pragma once

#include "lock_core.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace zklock::detail {

/// What the lock objects of one client on one path share. The last of them to go releases what threads hold.
///
/// Threads: any.
class ThreadHolds {
 public:
  explicit ThreadHolds(std::shared_ptr<LockCore> core) noexcept : core_{std::move(core)} {}
  ThreadHolds(const ThreadHolds&) = delete;
  ThreadHolds& operator=(const ThreadHolds&) = delete;
  ~ThreadHolds();
  /// The one of the client, the path and the names; `path` is valid.
  static std::shared_ptr<ThreadHolds> of(const ClientHandle& client, const std::string& path, LockNaming naming);

  [[nodiscard]] const std::shared_ptr<LockCore>& core() const noexcept { return core_; }

  // Of the calling thread:

  /// Null: holds nothing.
  [[nodiscard]] std::shared_ptr<Hold> held(LockKind kind) const;
  /// It has acquired, for the first time or once more.
  void add(LockKind kind, std::shared_ptr<Hold> hold);
  /// Once more what it holds.
  void again(LockKind kind);
  /// Once less: the hold if that was the last, which is the caller's to release. Throws Error::not_owner.
  [[nodiscard]] std::shared_ptr<Hold> remove(LockKind kind);

 private:
  using Key = std::pair<Owner, LockKind>;
  struct Entry {
    std::shared_ptr<Hold> hold;
    std::uint32_t times = 1;
  };

  std::shared_ptr<LockCore> core_;
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

}  // namespace zklock::detail

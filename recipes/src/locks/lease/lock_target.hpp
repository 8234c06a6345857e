// The lock that an object belongs to.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipe_kit/observers.hpp>
#include <zklock/recipes/locks/lock_kind.hpp>
#include <zklock/recipes/locks/lock_node.hpp>
#include <zklock/recipes/locks/lock_observer.hpp>
#include <zklock/recipes/locks/owner.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::detail {

class HeldLock;
class ClientNode;

/// A client, a path and the names of the nodes there; and what to call when an owner gets a lock, or gives it back.
///
/// Threads: any.
class LockTarget {
 public:
  LockTarget(const ClientHandle& client, std::string path, LockNaming naming);
  LockTarget(const LockTarget&) = delete;
  LockTarget& operator=(const LockTarget&) = delete;
  virtual ~LockTarget() = default;

  [[nodiscard]] const ClientHandle& client() const noexcept { return client_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] LockNaming naming() const noexcept { return naming_; }
  [[nodiscard]] std::string_view marker(LockKind kind) const noexcept { return marker_of(kind, naming_); }
  /// The client has a logger, or an observer of locks.
  [[nodiscard]] bool is_heard() const noexcept { return is_heard_; }
  /// Null: none.
  [[nodiscard]] const Observers<LockObserver>* observers() const noexcept { return observers_.get(); }
  /// The path at the server; empty without observers.
  [[nodiscard]] const std::string& server_path() const noexcept { return server_path_; }
  /// Its owner has got that lock.
  virtual void add(const std::shared_ptr<HeldLock>& held_lock) = 0;
  /// The owner has released all that it held.
  virtual void on_end_of(Owner owner, LockKind kind) = 0;
  /// What is held by that node.
  [[nodiscard]] virtual std::vector<std::shared_ptr<HeldLock>> holders_of(const ClientNode& node) const = 0;

 private:
  ClientHandle client_;
  std::string path_;
  LockNaming naming_;
  std::shared_ptr<const Observers<LockObserver>> observers_;
  std::string server_path_;
  bool is_heard_;
};

}  // namespace zklock::detail

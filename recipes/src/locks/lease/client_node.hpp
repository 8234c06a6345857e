// The node of a held lock that its client may keep when the lock is released.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/error.hpp>
#include <zklock/recipe_kit/spawn.hpp>

#include <memory>

namespace zklock::detail {

class HeldLock;

/// What a held lock gives back to it, and tells it.
class ClientNode {
 public:
  virtual ~ClientNode() = default;
  /// The lease has ended: the node is kept, or deleted in the background. Any thread.
  virtual void take_back(const std::shared_ptr<HeldLock>& held_lock) = 0;
  /// The same, on the session's executor; gives the server's reply if the node is deleted.
  [[nodiscard]] virtual Awaitable<error_code> give_back(std::shared_ptr<HeldLock> held_lock) = 0;
  /// The node is gone. The session's executor.
  virtual void lose() = 0;
};

}  // namespace zklock::detail

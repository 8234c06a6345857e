// The node of a held lock that its client may keep when the lock is released.
#pragma once

#include <zklock/error.hpp>

#include <functional>

namespace zklock::detail {

class HeldLock;

/// What a held lock gives back to it, and tells it.
class ClientNode {
 public:
  virtual ~ClientNode() = default;
  /// The lease has ended: the node is kept, or others have it. True: neither, and remove() is to be called. Any thread.
  [[nodiscard]] virtual bool take_back(const HeldLock& held_lock) = 0;
  /// Deletes the node. `removed` is told as by HeldLock::remove(). Any thread.
  virtual void remove(std::function<void(error_code)> removed) = 0;
  /// The node is gone. The session's executor.
  virtual void lose() = 0;
};

}  // namespace zklock::detail

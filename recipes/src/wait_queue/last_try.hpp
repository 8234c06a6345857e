// What a try costs when the one before it has failed.
#pragma once

#include <string>
#include <string_view>

namespace zklock {

/// Whether the holders of a lock may keep it unused until another client's node asks for it. zklock's do not yet.
enum class UnusedLocks { are_released, may_be_kept };

/// The tries on one path. A try that fails by a node in the queue writes twice. So after a failed one the next lists the
/// queue first, and makes no node if another is ahead: that costs one read.
///
/// Threads: the client's executor.
class LastTry {
 public:
  explicit LastTry(UnusedLocks unused = UnusedLocks::are_released) noexcept : unused_{unused} {}

  [[nodiscard]] bool has_failed() const noexcept { return !ahead_.empty(); }
  /// A list has shown that node ahead, or none: the try fails without a node. A list asks no holder for its unused lock,
  /// so a try that finds the same node as the last one did enqueues, where locks may be kept.
  [[nodiscard]] bool fails_behind(std::string_view ahead) const noexcept {
    return !ahead.empty() && (unused_ == UnusedLocks::are_released || ahead != ahead_);
  }
  void failed_behind(std::string_view ahead) { ahead_ = ahead; }
  void succeeded() noexcept { ahead_.clear(); }

 private:
  UnusedLocks unused_;
  std::string ahead_;
};

}  // namespace zklock

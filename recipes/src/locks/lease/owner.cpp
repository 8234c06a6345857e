#include <zklock/recipes/locks/owner.hpp>

#include <atomic>

namespace zklock {

Owner Owner::make() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return Owner{++last};
}

/// Not made from std::thread::id, which may be used again once its thread has ended.
Owner Owner::this_thread() noexcept {
  thread_local const Owner own = make();
  return own;
}

}  // namespace zklock

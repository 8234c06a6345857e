// Which of a client's objects keeps the node at a path.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipe_kit/shared_state.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zklock {

/// Two objects of one client cannot be told apart by the owner of a node. The first one has the path; the others treat
/// its node as a foreign one.
///
/// Threads: the client's serial executor, but for of().
class PathClaim {
 public:
  /// The claim of the client's objects on `path`.
  static std::shared_ptr<PathClaim> of(const ClientHandle& client, const std::string& path) {
    return client.shared_state().find_or_make<PathClaim>(client.server_path(path),
                                                         [] { return std::make_shared<PathClaim>(); });
  }

  [[nodiscard]] bool is_taken() const noexcept { return taken_; }
  /// True for the object that has it from now on.
  [[nodiscard]] bool try_take() noexcept { return !std::exchange(taken_, true); }
  void release() {
    taken_ = false;
    for (const auto& wake : std::exchange(waiting_, {})) wake();
  }
  /// Calls `wake` once, when it is released.
  void when_released(std::function<void()> wake) { waiting_.push_back(std::move(wake)); }

 private:
  bool taken_ = false;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace zklock

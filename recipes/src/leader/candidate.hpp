// What the candidates of one LeaderLatch or LeaderSelector object have in common.
#pragma once

#include "acquire.hpp"
#include "limits.hpp"
#include "lock_core.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/leader/leadership.hpp>

#include <memory>
#include <optional>
#include <string>

namespace zklock::detail {

/// Whether a candidate shows its priority in its node's name.
enum class Rank { own, lowest };

/// Immutable. Threads: any.
class Candidate {
 public:
  Candidate(std::shared_ptr<LockCore> core, LockKind kind, std::string id, std::optional<int> priority) noexcept
      : core_{std::move(core)}, kind_{kind}, id_{std::move(id)}, priority_{priority} {}

  [[nodiscard]] const std::shared_ptr<LockCore>& core() const noexcept { return core_; }
  [[nodiscard]] LockKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] NodeTraits traits(Rank rank) const;

 private:
  std::shared_ptr<LockCore> core_;
  LockKind kind_;
  std::string id_;
  std::optional<int> priority_;
};

/// Stands, and gives the leadership. The deadline is kept by the caller, which cancels. Runs on the client's executor.
[[nodiscard]] Awaitable<Result<Leadership>> lead(std::shared_ptr<Candidate> candidate, Limits limits, Rank rank);

}  // namespace zklock::detail

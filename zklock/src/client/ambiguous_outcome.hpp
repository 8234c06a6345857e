// What is known of a write that was tried, and what is not.
#pragma once

#include <zklock/error.hpp>

namespace zklock::detail {

/// What the tries before have left unknown: one of them may have done it.
class Doubt {
 public:
  void note(error_code error) {
    if (outcome_of(error) == Outcome::ambiguous) error_ = error;
  }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(error_); }
  /// What to end with. A later refusal does not prove that nothing was done before: others may have changed the node
  /// since.
  [[nodiscard]] error_code end(error_code error) const noexcept {
    return error_ && outcome_of(error) == Outcome::not_applied ? error_ : error;
  }

 private:
  error_code error_{};
};

}  // namespace zklock::detail

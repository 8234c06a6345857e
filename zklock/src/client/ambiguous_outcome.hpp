// What is known of a write's earlier tries.
#pragma once

#include <zklock/error.hpp>

namespace zklock::detail {

/// Records whether an earlier try of a write had an ambiguous outcome: it may have been carried out.
class AmbiguousOutcome {
 public:
  void note(error_code error) {
    if (outcome_of(error) == Outcome::ambiguous) error_ = error;
  }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(error_); }
  /// The error to end with. A later refusal does not prove that no earlier try was carried out: other clients may have
  /// changed the node since.
  [[nodiscard]] error_code end(error_code error) const noexcept {
    return error_ && outcome_of(error) == Outcome::not_applied ? error_ : error;
  }

 private:
  error_code error_{};
};

}  // namespace zklock::detail

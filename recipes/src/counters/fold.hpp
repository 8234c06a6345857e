// How changes that wait for one write become one.
#pragma once

#include <zklock/recipes/counters/distributed_atomic.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zklock::detail {

struct Folded {
  /// One for each step, in their order: what it met, and what it left. A step that fails leaves what it met.
  std::vector<RawAtomic> each{};
  std::vector<error_code> errors{};
  std::optional<std::string> data{};  ///< after all of them
  bool is_changed = false;            ///< some step has written
};
[[nodiscard]] Folded fold(const std::vector<const AtomicStep*>& steps, const std::optional<std::string>& data);

}  // namespace zklock::detail

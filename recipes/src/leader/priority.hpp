// The priority of a latch's candidate, which is in its node's name: "_c_<uuid>-p007-latch-<sequence>". Curator, which
// reads what is after the last "latch-", does not see it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zklock {

/// A candidate without a priority, such as Curator's.
inline constexpr int lowest_priority = -1;

/// What stands before the marker: "p007-".
[[nodiscard]] std::string priority_prefix(int priority);

/// The priority in the name of a latch's node; lowest_priority if it has none.
[[nodiscard]] int priority_of(std::string_view name) noexcept;

/// Whether a candidate of a latch, which is first in the wait queue, is to go to its end: one of the children behind it
/// has a higher priority.
///
/// It ends: each candidate ahead of the foremost one of the highest priority steps back once. It may starve the others.
[[nodiscard]] bool should_step_back(const std::vector<std::string>& children, std::string_view own_name);

}  // namespace zklock

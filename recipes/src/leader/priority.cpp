#include "priority.hpp"

#include "sequence_number.hpp"

#include <zklock/recipes/locks/lock_node.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace zklock {

std::string priority_prefix(int priority) {
  std::array<char, 16> text{};
  const int length = std::snprintf(text.data(), text.size(), "p%03d-", priority);
  return {text.data(), static_cast<std::size_t>(length)};
}

int priority_of(std::string_view name) noexcept {
  constexpr std::size_t length = 5;  // p007-
  const auto marker = name.rfind(marker_of(LockKind::latch));
  if (marker == std::string_view::npos || marker < length + 1 || name[marker - length - 1] != '-')
    return lowest_priority;
  const std::string_view prefix = name.substr(marker - length, length);
  if (prefix.front() != 'p' || prefix.back() != '-') return lowest_priority;
  const std::string_view digits = prefix.substr(1, 3);
  const bool are_digits = std::ranges::all_of(digits, [](char each) { return each >= '0' && each <= '9'; });
  int priority = lowest_priority;
  if (are_digits) std::from_chars(digits.data(), digits.data() + digits.size(), priority);
  return priority;
}

bool should_step_back(const std::vector<std::string>& children, std::string_view own_name) {
  const std::string_view marker = marker_of(LockKind::latch);
  const auto own = parse_sequence(own_name, marker);
  if (!own) return false;
  return std::ranges::any_of(children, [&](const std::string& child) {
    const auto other = parse_sequence(child, marker);
    return other && *other > *own && priority_of(child) > priority_of(own_name);
  });
}

}  // namespace zklock

#include "admission.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace zklock {

Admission admit(const std::vector<std::string>& children, const std::vector<std::string>& own, std::int32_t permits) {
  const std::unordered_set<std::string_view> present{children.begin(), children.end()};
  if (!std::ranges::all_of(own, [&](const std::string& name) { return present.contains(name); }))
    return Admission::missing;
  return std::cmp_less_equal(children.size(), permits) ? Admission::granted : Admission::full;
}

std::string format_count(std::int32_t count) {
  const auto bits = static_cast<std::uint32_t>(count);
  std::string data;
  for (const int shift : {24, 16, 8, 0}) data.push_back(static_cast<char>(bits >> shift & 0xff));
  return data;
}

std::optional<std::int32_t> parse_count(std::string_view data) noexcept {
  if (data.size() != 4) return std::nullopt;
  std::uint32_t bits = 0;
  for (const char byte : data) bits = bits << 8 | static_cast<unsigned char>(byte);
  return static_cast<std::int32_t>(bits);
}

}  // namespace zklock

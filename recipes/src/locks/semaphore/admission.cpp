#include "admission.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace zklock {

Admission admit(const std::vector<std::string>& children, const std::vector<std::string>& own, std::int32_t permits) {
  const std::unordered_set<std::string_view> present{children.begin(), children.end()};
  if (!std::ranges::all_of(own, [&](const std::string& name) { return present.contains(name); }))
    return Admission::missing;
  return std::cmp_less_equal(children.size(), permits) ? Admission::granted : Admission::full;
}

}  // namespace zklock

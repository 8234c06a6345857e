// Prometheus' text format, as services write it: a pure parser.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::tools {

struct MetricSample {
  std::string name;
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;
};

/// The samples whose names begin with "zklock_", at most so many. Lines that are not as the format has them are passed
/// over: a service writes them.
[[nodiscard]] std::vector<MetricSample> parse_metrics(std::string_view text, std::size_t limit = 100'000);

/// A number of the format, which may be "+Inf".
[[nodiscard]] std::optional<double> parse_number(std::string_view text) noexcept;

}  // namespace zklock::tools

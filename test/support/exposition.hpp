// A scrape, as a test reads it.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>

namespace zklock::test {

/// The samples of Prometheus' text format, by what stands before the value.
class Exposition {
 public:
  explicit Exposition(const std::string& text) {
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("# TYPE ")) families_.insert(line.substr(7, line.find(' ', 7) - 7));
      const auto space = line.rfind(' ');
      if (!line.starts_with('#') && space != line.npos)
        samples_[line.substr(0, space)] = std::strtod(line.c_str() + space, nullptr);
    }
  }

  /// Empty: there is no such sample.
  [[nodiscard]] std::optional<double> operator[](const std::string& sample) const {
    const auto found = samples_.find(sample);
    return found == samples_.end() ? std::nullopt : std::optional{found->second};
  }
  /// The sum of all samples whose name and labels begin so.
  [[nodiscard]] double sum(const std::string& begin) const {
    double sum = 0;
    for (const auto& [sample, value] : samples_)
      if (sample.starts_with(begin)) sum += value;
    return sum;
  }
  /// How many samples begin so.
  [[nodiscard]] std::size_t count(const std::string& begin) const {
    std::size_t count = 0;
    for (const auto& [sample, value] : samples_) count += sample.starts_with(begin) ? 1 : 0;
    return count;
  }
  [[nodiscard]] const std::set<std::string>& families() const noexcept { return families_; }

 private:
  std::map<std::string, double> samples_;
  std::set<std::string> families_;
};

}  // namespace zklock::test

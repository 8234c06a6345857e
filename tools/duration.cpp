#include "duration.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

namespace zklock::tools {
namespace {

using namespace std::chrono_literals;

struct Unit {
  std::string_view name;
  std::chrono::milliseconds length;
};

constexpr std::array<Unit, 4> units{{{"h", 1h}, {"m", 1min}, {"s", 1s}, {"ms", 1ms}}};
constexpr std::chrono::milliseconds longest = 24h * 365;

std::string two_parts(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%lld%c%02lld%c", static_cast<long long>(large), large_unit,
                static_cast<long long>(small), small_unit);
  return text.data();
}

}  // namespace

std::chrono::milliseconds parse_duration(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view name{end, text.data() + text.size()};
  for (const Unit& unit : units) {
    if (error != std::errc{} || name != unit.name) continue;
    if (number <= static_cast<std::uint64_t>(longest / unit.length))
      return static_cast<std::int64_t>(number) * unit.length;
    break;
  }
  throw std::invalid_argument{"'" + std::string{text} +
                              "' is no duration: write a whole number and ms, s, m or h, such as " +
                              "500ms or 5s, of up to a year"};
}

std::string format_duration(std::chrono::milliseconds duration) {
  for (const Unit& unit : units)
    if (duration >= unit.length && duration % unit.length == 0ms)
      return std::to_string(duration / unit.length) + std::string{unit.name};
  return std::to_string(duration.count()) + "ms";
}

std::string format_age(std::chrono::milliseconds age) {
  const std::int64_t seconds = age / 1s;
  if (seconds < 10) return std::to_string(seconds) + "." + std::to_string(age % 1s / 100ms) + "s";
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) return two_parts(seconds / 60, 'm', seconds % 60, 's');
  if (seconds < 86'400) return two_parts(seconds / 3600, 'h', seconds / 60 % 60, 'm');
  return two_parts(seconds / 86'400, 'd', seconds / 3600 % 24, 'h');
}

}  // namespace zklock::tools

#include "duration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
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

/// Parses "1.5" of a unit, if the result is a number of whole milliseconds, and not too long.
std::optional<std::chrono::milliseconds> in_milliseconds(std::string_view number, std::chrono::milliseconds unit) {
  const auto point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? "" : number.substr(point + 1);
  const bool ends_in_point = point != std::string_view::npos && fraction.empty();
  if (whole.empty() || ends_in_point || fraction.size() > 9) return std::nullopt;
  std::uint64_t digits = 0;  // "15", in tenths
  const std::string all = std::string{whole} + std::string{fraction};
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), digits);
  if (error != std::errc{} || end != all.data() + all.size()) return std::nullopt;
  std::uint64_t parts = 1;
  for (std::size_t i = 0; i < fraction.size(); ++i) parts *= 10;
  const auto length = static_cast<std::uint64_t>(unit.count());
  const auto most = static_cast<std::uint64_t>(longest.count());
  if (digits / parts > most / length || digits > std::numeric_limits<std::uint64_t>::max() / length)
    return std::nullopt;
  if (digits * length % parts != 0 || digits * length / parts > most) return std::nullopt;
  return std::chrono::milliseconds{digits * length / parts};
}

std::string two_parts(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%lld%c%02lld%c", static_cast<long long>(large), large_unit,
                static_cast<long long>(small), small_unit);
  return text.data();
}

}  // namespace

std::chrono::milliseconds parse_duration(std::string_view text) {
  if (text == "0") return 0ms;
  const auto name_at = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto unit = std::ranges::find(units, text.substr(name_at), &Unit::name);
  const auto duration = unit == units.end() ? std::nullopt : in_milliseconds(text.substr(0, name_at), unit->length);
  if (duration) return *duration;
  throw std::invalid_argument{"'" + std::string{text} +
                              "' is no duration: write a number and ms, s, m or h, such as 500ms, 1.5s or 2m, "
                              "of whole milliseconds and up to a year"};
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

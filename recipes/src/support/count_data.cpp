#include "count_data.hpp"

namespace zklock {

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

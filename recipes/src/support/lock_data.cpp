#include <zklock/client_id.hpp>
#include <zklock/recipes/locks/lock_data.hpp>

#include <charconv>

namespace zklock {

namespace {

constexpr std::uint32_t max_count = INT32_MAX;

}  // namespace

std::string format_lock_data(const LockData& data) { return data.client_id + ":" + std::to_string(data.count); }

std::optional<LockData> parse_lock_data(std::string_view data) {
  const std::size_t colon = data.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view id = data.substr(0, colon);
  const std::string_view digits = data.substr(colon + 1);
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.front() == '0' || count > max_count)
    return std::nullopt;
  if (validate_client_id(id, std::nothrow)) return std::nullopt;
  return LockData{std::string{id}, count};
}

}  // namespace zklock

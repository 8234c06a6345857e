#include <zklock/client_id.hpp>
#include <zklock/path.hpp>

#include <boost/system/system_error.hpp>

#include <array>
#include <charconv>
#include <cstdio>
#include <random>

#include <unistd.h>

namespace zklock {

namespace {

constexpr std::size_t longest_id = 128;
constexpr std::uint32_t highest_count = INT32_MAX;

std::string host_name() {
  std::array<char, 65> name{};
  ::gethostname(name.data(), name.size() - 1);
  std::string host{name.data()};
  for (char& c : host)
    if (c == ':' || static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f) c = '-';
  return host.empty() ? "host" : host;
}

std::string_view flaw_of(std::string_view id) {
  if (id.empty()) return "it is empty";
  if (id.size() > longest_id) return "it is longer than 128 bytes";
  if (id.find(':') != std::string_view::npos) return "it contains ':'";
  // What a path component may not contain is what an id may not: control characters and broken UTF-8. '/' and dots are
  // fine here.
  std::string component{"/x"};
  for (const char c : id) component += c == '/' ? 'x' : c;
  return find_path_flaw(component).reason;
}

}  // namespace

std::string make_client_id() {
  std::array<char, 9> hex{};
  std::snprintf(hex.data(), hex.size(), "%08x", std::random_device{}());
  return host_name() + "-" + std::to_string(::getpid()) + "-" + hex.data();
}

void validate_client_id(std::string_view id) {
  if (const std::string_view flaw = flaw_of(id); !flaw.empty())
    throw boost::system::system_error{make_error_code(Error::invalid_client_id), std::string{flaw}};
}

std::string format_lock_data(const LockData& data) { return data.client_id + ":" + std::to_string(data.count); }

std::optional<LockData> parse_lock_data(std::string_view data) {
  const std::size_t colon = data.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view id = data.substr(0, colon);
  const std::string_view digits = data.substr(colon + 1);
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.front() == '0' || count > highest_count)
    return std::nullopt;
  if (!flaw_of(id).empty()) return std::nullopt;
  return LockData{std::string{id}, count};
}

}  // namespace zklock

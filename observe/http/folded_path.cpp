#include "folded_path.hpp"

#include <algorithm>
#include <cctype>

namespace zklock::web {
namespace {

bool is_digit(unsigned char c) { return std::isdigit(c) != 0; }
bool is_hex(unsigned char c) { return std::isxdigit(c) != 0; }

/// "123e4567-e89b-12d3-a456-426614174000"
bool is_uuid(std::string_view text) {
  constexpr std::string_view form = "00000000-0000-0000-0000-000000000000";
  return std::ranges::equal(
      text, form, [](char c, char wanted) { return wanted == '-' ? c == '-' : is_hex(static_cast<unsigned char>(c)); });
}

bool looks_like_id(std::string_view component) {
  if (component.size() >= 6 && std::ranges::all_of(component, is_digit)) return true;
  if (component.size() >= 16 && std::ranges::all_of(component, is_hex)) return true;
  return is_uuid(component);
}

}  // namespace

std::string folded(std::string_view path) {
  std::string label;
  while (!path.empty()) {
    const auto end = std::min(path.find('/', 1), path.size());
    const std::string_view component =
        path.substr(path.starts_with('/') ? 1 : 0, end - (path.starts_with('/') ? 1 : 0));
    if (path.starts_with('/')) label += '/';
    label += looks_like_id(component) ? "*" : component;
    path.remove_prefix(end);
  }
  return label;
}

}  // namespace zklock::web

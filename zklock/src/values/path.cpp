#include <zklock/detail/utf8.hpp>
#include <zklock/path.hpp>

#include <boost/system/system_error.hpp>

namespace zklock {
namespace {

constexpr std::size_t max_quoted = 200;

/// The characters of most paths.
bool is_plain(char c) noexcept { return c >= ' ' && c <= '~' && c != '/'; }

bool is_control(char32_t value) noexcept { return value < 0x20 || (value >= 0x7F && value <= 0x9F); }

/// Why no node name may contain the character; empty if it may.
std::string_view flaw_of(detail::Utf8Character c) noexcept {
  if (c.size == 0) return "invalid UTF-8";
  if (c.value == 0) return "a NUL, at which the C client would cut the path";
  if (is_control(c.value)) return "a control character";
  if (c.value > 0xFFFF) return "a code point above U+FFFF, in which the server sees surrogates";
  if (c.value >= 0xE000 && c.value <= 0xF8FF) return "a code point for private use";
  if (c.value >= 0xFFF0) return "a code point of U+FFF0 to U+FFFF";
  return {};
}

/// The flaw of the component of `path` that starts at `begin`, apart from its characters.
std::string_view flaw_of_component(std::string_view path, std::size_t begin) noexcept {
  const auto component = path.substr(begin, path.find('/', begin) - begin);
  if (component == ".") return "a component \".\"";
  if (component == "..") return "a component \"..\"";
  if (component.empty()) return begin == path.size() ? "a '/' at the end" : "a '/' after a '/'";
  return {};
}

}  // namespace

Flaw validate_path(std::string_view path, std::nothrow_t) noexcept {
  if (path.empty()) return {0, "an empty path"};
  if (path.front() != '/') return {0, "a path starts with '/'"};
  if (path.size() == 1) return {};

  for (std::size_t at = 0; at < path.size();) {
    if (is_plain(path[at])) {
      ++at;
      continue;
    }
    const auto c = detail::first_character(path.substr(at));
    if (const auto reason = flaw_of(c); !reason.empty()) return {at, reason};
    if (c.value == '/') {
      const auto reason = flaw_of_component(path, at + 1);
      // An empty component has no first byte: the superfluous '/' is reported.
      if (!reason.empty()) return {at + 1 < path.size() ? at + 1 : at, reason};
    }
    at += c.size;
  }
  return {};
}

void validate_path(std::string_view path) {
  if (const Flaw flaw = validate_path(path, std::nothrow))
    throw boost::system::system_error{Error::invalid_path, describe(flaw, path)};
}

std::string describe(Flaw flaw, std::string_view path) {
  return zklock::quoted(path) + ", byte " + std::to_string(flaw.offset) + ": " + std::string{flaw.reason};
}

std::string join_path(std::string_view parent, std::string_view child) {
  if (parent.ends_with('/')) parent.remove_suffix(1);
  if (child.starts_with('/')) child.remove_prefix(1);
  std::string path;
  path.reserve(parent.size() + 1 + child.size());
  return path.append(parent).append(1, '/').append(child);
}

std::string_view parent_path(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : path.substr(0, slash);
}

std::string_view node_name(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string quoted(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result = "\"";
  for (std::size_t at = 0; at < text.size();) {
    if (at >= max_quoted) return result + "\"...";
    const auto c = detail::first_character(text.substr(at));
    const auto bytes = text.substr(at, c.size == 0 ? 1 : c.size);
    at += bytes.size();
    if (c.size != 0 && !is_control(c.value)) {
      if (c.value == '"' || c.value == '\\') result += '\\';
      result += bytes;
      continue;
    }
    for (const char byte : bytes) {
      const auto value = static_cast<unsigned char>(byte);
      (result += "\\x").append({digits[value >> 4], digits[value & 0xF]});
    }
  }
  return result + '"';
}

}  // namespace zklock

#include <zklock/path.hpp>

#include <boost/system/system_error.hpp>

#include <cstdint>

namespace zklock {
namespace {

constexpr std::size_t max_quoted = 200;

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  ///< in bytes; 0 if the bytes are not UTF-8
};

/// The code point that starts at `at`. Source: The Unicode Standard, table 3-7, well-formed UTF-8 byte sequences.
CodePoint decode(std::string_view text, std::size_t at) noexcept {
  const auto byte = [=](std::size_t i) -> char32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const char32_t lead = byte(at);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xC2 || lead > 0xF4) return {};

  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t value = lead & (0x7Fu >> length);
  for (std::size_t i = at + 1; i < at + length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, length};
}

/// The characters of most paths.
bool is_plain(char c) noexcept { return c >= ' ' && c <= '~' && c != '/'; }

bool is_control(char32_t value) noexcept { return value < 0x20 || (value >= 0x7F && value <= 0x9F); }

/// Why no node name may contain the character; empty if it may.
std::string_view flaw_of(CodePoint c) noexcept {
  if (c.length == 0) return "invalid UTF-8";
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
    const CodePoint c = decode(path, at);
    if (const auto reason = flaw_of(c); !reason.empty()) return {at, reason};
    if (c.value == '/') {
      const auto reason = flaw_of_component(path, at + 1);
      // An empty component has no first byte: the superfluous '/' is reported.
      if (!reason.empty()) return {at + 1 < path.size() ? at + 1 : at, reason};
    }
    at += c.length;
  }
  return {};
}

void validate_path(std::string_view path) {
  if (const Flaw flaw = validate_path(path, std::nothrow))
    throw boost::system::system_error{Error::invalid_path, describe(flaw, path)};
}

std::string describe(Flaw flaw, std::string_view path) {
  return quoted(path) + ", byte " + std::to_string(flaw.offset) + ": " + std::string{flaw.reason};
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
    const CodePoint c = decode(text, at);
    const auto bytes = text.substr(at, c.length == 0 ? 1 : c.length);
    at += bytes.size();
    if (c.length != 0 && !is_control(c.value)) {
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

#include "line_builder.hpp"

#include <spdlog/common.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>

namespace zklock::detail {

namespace {

namespace fmt_lib = spdlog::fmt_lib;

constexpr char32_t replacement = 0xFFFD;

struct Decoded {
  char32_t character = replacement;
  std::size_t size = 1;
};

/// The first character; of bytes that are not UTF-8 the replacement for one byte. Source: The Unicode Standard, table
/// 3-7.
Decoded decode(std::string_view text) noexcept {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  auto character = static_cast<char32_t>(lead & (0x7FU >> size));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    character = character << 6U | (byte(i) & 0x3FU);
  }
  const bool is_overlong = (size == 3 && character < 0x800) || (size == 4 && character < 0x10000);
  const bool is_surrogate = character >= 0xD800 && character <= 0xDFFF;
  if (is_overlong || is_surrogate || character > 0x10FFFF) return {};
  return {character, size};
}

bool is_plain(char character) noexcept {
  return character >= ' ' && character <= '~' && character != '"' && character != '\\';
}

void append_escaped(std::string& line, char32_t character) {
  const auto out = std::back_inserter(line);
  const auto unit = [&](char32_t value) { fmt_lib::format_to(out, "\\u{:04x}", static_cast<unsigned>(value)); };
  if (character == U'"' || character == U'\\') {
    (line += '\\') += static_cast<char>(character);
  } else if (character < 0x10000) {
    unit(character);
  } else {
    unit(0xD7C0 + (character >> 10U));
    unit(0xDC00 + (character & 0x3FFU));
  }
}

/// Whether a value of logfmt needs no quotes.
bool is_bare(std::string_view value) noexcept {
  return !value.empty() &&
         std::ranges::all_of(value, [](char each) { return is_plain(each) && each != ' ' && each != '='; });
}

}  // namespace

void append_quoted(std::string& line, std::string_view text) {
  line += '"';
  for (;;) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    line += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Decoded next = decode(text);
    append_escaped(line, next.character);
    text.remove_prefix(next.size);
  }
  line += '"';
}

void LineBuilder::next() {
  if (!is_first_) line_ += format_ == AuditFormat::logfmt ? ' ' : ',';
  is_first_ = false;
}

void LineBuilder::key(std::string_view key) {
  next();
  if (format_ == AuditFormat::logfmt) {
    (line_ += key) += '=';
  } else {
    ((line_ += '"') += key) += "\":";
  }
}

void LineBuilder::text(std::string_view key, std::string_view value) {
  this->key(key);
  if (format_ == AuditFormat::logfmt && is_bare(value)) {
    line_ += value;
  } else {
    append_quoted(line_, value);
  }
}

void LineBuilder::number(std::string_view key, std::int64_t value) {
  this->key(key);
  fmt_lib::format_to(std::back_inserter(line_), "{}", value);
}

void LineBuilder::seconds(std::string_view key, std::chrono::nanoseconds value) {
  this->key(key);
  const auto microseconds = value.count() / 1'000;
  fmt_lib::format_to(std::back_inserter(line_), "{}.{:06}", microseconds / 1'000'000, microseconds % 1'000'000);
}

void LineBuilder::fields(std::string_view made) {
  next();
  line_ += made;
}

}  // namespace zklock::detail

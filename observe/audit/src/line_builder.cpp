#include "line_builder.hpp"

#include <zklock/detail/utf8.hpp>

#include <spdlog/common.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>

namespace zklock::detail {

namespace {

namespace fmt_lib = spdlog::fmt_lib;

constexpr char32_t replacement = 0xFFFD;

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
    const Utf8Character next = first_character(text);
    append_escaped(line, next.size > 0 ? next.value : replacement);
    text.remove_prefix(std::max<std::size_t>(next.size, 1));
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

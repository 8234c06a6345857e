// One line of an audit log.
#pragma once

#include <zklock/audit/audit_log.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace zklock::detail {

/// Appends the text as a JSON string: in quotes, and in ASCII, so that no foreign character can end the line,
/// command a terminal or change the direction of writing. Bytes that are not UTF-8 become U+FFFD.
void append_quoted(std::string& line, std::string_view text);

/// Appends fields to a line: {"key":value,...}, or key=value ... The keys need no escapes.
class LineBuilder {
 public:
  LineBuilder(AuditFormat format, std::string& line) : format_{format}, line_{line} {}

  void text(std::string_view key, std::string_view value);
  void number(std::string_view key, std::int64_t value);
  void seconds(std::string_view key, std::chrono::nanoseconds value);
  /// Fields that another builder has made.
  void fields(std::string_view made);

 private:
  void next();
  void key(std::string_view key);

  AuditFormat format_;
  std::string& line_;
  bool is_first_ = true;
};

}  // namespace zklock::detail

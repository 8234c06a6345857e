// A log that a test can inspect.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spdlog {
class logger;
}

namespace zklock::test {

/// In the order of spdlog's.
enum class LogLevel { trace, debug, info, warning, error };

struct LogLine {
  LogLevel level;
  std::string text;

  [[nodiscard]] bool has(std::string_view part) const { return text.find(part) != std::string::npos; }
};

/// Keeps the lines that are written. Without spdlog's headers, which would be compiled with each file of tests.
///
/// Threads: any.
class Log {
 public:
  explicit Log(LogLevel level = LogLevel::debug);

  [[nodiscard]] const std::shared_ptr<spdlog::logger>& logger() const noexcept { return logger_; }
  [[nodiscard]] std::vector<LogLine> lines() const;
  /// The lines that have each of the parts.
  [[nodiscard]] std::vector<LogLine> with(const std::vector<std::string>& parts) const;
  [[nodiscard]] std::size_t count(const std::string& part) const { return with({part}).size(); }
  /// The whole log, for a message.
  [[nodiscard]] std::string text() const;

 private:
  class Sink;
  std::shared_ptr<Sink> sink_;
  std::shared_ptr<spdlog::logger> logger_;
};

/// A session id as a log has it.
[[nodiscard]] std::string hexadecimal(std::int64_t id);

}  // namespace zklock::test

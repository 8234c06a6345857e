// A log that a test can inspect.
#pragma once

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::test {

struct LogLine {
  spdlog::level::level_enum level;
  std::string text;

  [[nodiscard]] bool has(std::string_view part) const { return text.find(part) != std::string::npos; }
};

/// Keeps the lines that are written. Threads: any.
class Log {
 public:
  explicit Log(spdlog::level::level_enum level = spdlog::level::debug)
      : sink_{std::make_shared<Sink>()}, logger_{std::make_shared<spdlog::logger>("test", sink_)} {
    logger_->set_level(level);
  }

  [[nodiscard]] const std::shared_ptr<spdlog::logger>& logger() const { return logger_; }
  [[nodiscard]] std::vector<LogLine> lines() const { return sink_->lines(); }
  /// The lines that have each of the parts.
  [[nodiscard]] std::vector<LogLine> with(const std::vector<std::string>& parts) const {
    auto found = lines();
    std::erase_if(found, [&](const LogLine& line) {
      return !std::ranges::all_of(parts, [&](const std::string& part) { return line.has(part); });
    });
    return found;
  }
  [[nodiscard]] std::size_t count(const std::string& part) const { return with({part}).size(); }
  /// The whole log, for a message.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const LogLine& line : lines()) all += line.text + '\n';
    return all;
  }

 private:
  class Sink final : public spdlog::sinks::base_sink<std::mutex> {
   public:
    [[nodiscard]] std::vector<LogLine> lines() {
      const std::lock_guard lock{mutex_};
      return lines_;
    }

   private:
    void sink_it_(const spdlog::details::log_msg& message) override {
      lines_.push_back({message.level, {message.payload.data(), message.payload.size()}});
    }
    void flush_() override {}

    std::vector<LogLine> lines_;
  };

  std::shared_ptr<Sink> sink_;
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace zklock::test

#include "log.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>

namespace zklock::test {

class Log::Sink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  [[nodiscard]] std::vector<LogLine> lines() {
    const std::lock_guard lock{mutex_};
    return lines_;
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    lines_.push_back({LogLevel{message.level}, {message.payload.data(), message.payload.size()}});
  }
  void flush_() override {}

  std::vector<LogLine> lines_;
};

Log::Log(LogLevel level) : sink_{std::make_shared<Sink>()}, logger_{std::make_shared<spdlog::logger>("test", sink_)} {
  logger_->set_level(spdlog::level::level_enum{static_cast<int>(level)});
}

std::vector<LogLine> Log::lines() const { return sink_->lines(); }

std::vector<LogLine> Log::with(const std::vector<std::string>& parts) const {
  auto found = lines();
  std::erase_if(found, [&](const LogLine& line) {
    return !std::ranges::all_of(parts, [&](const std::string& part) { return line.has(part); });
  });
  return found;
}

std::string Log::text() const {
  std::string all;
  for (const LogLine& line : lines()) all += line.text + '\n';
  return all;
}

std::string hexadecimal(std::int64_t id) { return fmt::format("{:#x}", static_cast<std::uint64_t>(id)); }

}  // namespace zklock::test

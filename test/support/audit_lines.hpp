// The lines of an audit log, and what they say.
#pragma once

#include <zklock/audit/audit_log.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <spdlog/sinks/base_sink.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::test {

namespace json = boost::json;

/// Keeps the lines that are written. Threads: any.
class LineSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// Called with each line, before it is kept.
  std::function<void(std::string_view)> on_line{};

  [[nodiscard]] std::vector<std::string> lines() {
    const std::lock_guard lock{mutex_};
    return lines_;
  }
  [[nodiscard]] int flushes() {
    const std::lock_guard lock{mutex_};
    return flushes_;
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    std::string line{text.data(), text.size()};
    if (on_line) on_line(line);
    lines_.push_back(std::move(line));
  }
  void flush_() override { ++flushes_; }

  std::vector<std::string> lines_;
  int flushes_ = 0;
};

/// The fields of a line of logfmt; quoted values are JSON strings.
inline std::map<std::string, std::string> parse_logfmt(std::string_view line) {
  std::map<std::string, std::string> fields;
  while (!line.empty() && line != "\n") {
    const auto equals = line.find('=');
    const std::string key{line.substr(0, equals)};
    line.remove_prefix(equals + 1);
    std::size_t end = line.find_first_of(" \n");
    if (line.front() == '"') {
      end = 1;
      while (line[end] != '"') end += line[end] == '\\' ? 2 : 1;
      ++end;
      fields[key] = json::parse(std::string{line.substr(0, end)}).as_string();
    } else {
      fields[key] = line.substr(0, end);
    }
    line.remove_prefix(end + (line[end] == ' ' ? 1 : 0));
  }
  return fields;
}

/// The records of an audit log, or what is left of them after a filter.
class AuditLines {
 public:
  explicit AuditLines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) records_.push_back(json::parse(line).as_object());
  }

  [[nodiscard]] std::vector<json::object> all() const { return records_; }
  [[nodiscard]] AuditLines with(std::string_view key, const json::value& value) const {
    AuditLines found = *this;
    std::erase_if(found.records_, [&](const json::object& record) {
      const auto* has = record.if_contains(key);
      return !has || *has != value;
    });
    return found;
  }
  /// "granted released": what was done, without the "lock."
  [[nodiscard]] std::string story() const {
    std::string story;
    for (const json::object& record : records_) {
      std::string_view action = record.at("event.action").as_string();
      if (action.starts_with("lock.")) action.remove_prefix(5);
      story += (story.empty() ? "" : " ") + std::string{action};
    }
    return story;
  }

 private:
  std::vector<json::object> records_;
};

}  // namespace zklock::test

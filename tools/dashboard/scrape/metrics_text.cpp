#include "metrics_text.hpp"

#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace zklock::tools {
namespace {

void skip_spaces(std::string_view& text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
}

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

std::string_view take_name(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && is_name(text[size])) ++size;
  const std::string_view name = text.substr(0, size);
  text.remove_prefix(size);
  return name;
}

/// What is between quotes; `\\`, `\"` and `\n` are escaped.
std::optional<std::string> take_quoted(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string value;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') {
      text.remove_prefix(at + 1);
      return value;
    }
    if (text[at] != '\\') {
      value += text[at];
    } else if (++at < text.size()) {
      value += text[at] == 'n' ? '\n' : text[at];
    }
  }
  return std::nullopt;
}

bool take_labels(std::string_view& text, MetricSample& sample) {
  if (!text.starts_with('{')) return true;
  text.remove_prefix(1);
  for (;;) {
    skip_spaces(text);
    if (text.starts_with('}')) {
      text.remove_prefix(1);
      return true;
    }
    const std::string_view name = take_name(text);
    if (name.empty() || !text.starts_with('=')) return false;
    text.remove_prefix(1);
    auto value = take_quoted(text);
    if (!value) return false;
    sample.labels.emplace(name, std::move(*value));
    skip_spaces(text);
    if (text.starts_with(',')) text.remove_prefix(1);
  }
}

std::optional<MetricSample> parse_line(std::string_view line) {
  skip_spaces(line);
  MetricSample sample;
  sample.name = take_name(line);
  if (!sample.name.starts_with("zklock_") || !take_labels(line, sample)) return std::nullopt;
  skip_spaces(line);
  const auto value = parse_number(line.substr(0, line.find_first_of(" \t\r")));
  if (!value) return std::nullopt;
  sample.value = *value;
  return sample;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) noexcept {
  if (text == "+Inf" || text == "Inf") return std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::vector<MetricSample> parse_metrics(std::string_view text, std::size_t limit) {
  std::vector<MetricSample> samples;
  while (!text.empty() && samples.size() < limit) {
    const auto end = text.find('\n');
    if (auto sample = parse_line(text.substr(0, end))) samples.push_back(std::move(*sample));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return samples;
}

}  // namespace zklock::tools

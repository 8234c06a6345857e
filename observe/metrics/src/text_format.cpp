// Prometheus' text format, version 0.0.4. The library's own TextSerializer cannot be linked where vectors have another
// layout (-D_GLIBCXX_DEBUG).
#include "families.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace zklock::metrics {
namespace {

void append_number(std::string& text, double value) {
  if (std::isnan(value)) {
    text += "NaN";
  } else if (std::isinf(value)) {
    text += value > 0 ? "+Inf" : "-Inf";
  } else {
    std::array<char, 32> digits{};
    text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
  }
}

/// A label's value; the help text has no quotes to escape.
void append_escaped(std::string& text, std::string_view value) {
  for (const char each : value) {
    if (each == '\\' || each == '"') text += '\\';
    if (each == '\n') {
      text += "\\n";
    } else {
      text += each;
    }
  }
}

/// One line. `bound` is that of a bucket.
void append_sample(std::string& text, const std::string& name, std::string_view suffix,
                   const prometheus::ClientMetric& metric, double value, const double* bound = nullptr) {
  (text += name) += suffix;
  char before = '{';
  for (const auto& label : metric.label) {
    ((text += before) += label.name) += "=\"";
    append_escaped(text, label.value);
    text += '"';
    before = ',';
  }
  if (bound != nullptr) {
    (text += before) += "le=\"";
    append_number(text, *bound);
    text += '"';
    before = ',';
  }
  if (before == ',') text += '}';
  text += ' ';
  append_number(text, value);
  text += '\n';
}

void append_histogram(std::string& text, const std::string& name, const prometheus::ClientMetric& metric) {
  const auto& histogram = metric.histogram;
  for (const auto& bucket : histogram.bucket)
    append_sample(text, name, "_bucket", metric, static_cast<double>(bucket.cumulative_count), &bucket.upper_bound);
  constexpr double all = INFINITY;
  const auto count = static_cast<double>(histogram.sample_count);
  append_sample(text, name, "_bucket", metric, count, &all);
  append_sample(text, name, "_sum", metric, histogram.sample_sum);
  append_sample(text, name, "_count", metric, count);
}

}  // namespace

std::string to_text(const std::vector<prometheus::MetricFamily>& families) {
  using prometheus::MetricType;
  std::string text;
  for (const prometheus::MetricFamily& family : families) {
    const bool counts = family.type == MetricType::Counter;
    const bool is_histogram = family.type == MetricType::Histogram;
    text += "# HELP " + family.name + " " + family.help + "\n# TYPE " + family.name +
            (is_histogram ? " histogram\n"
             : counts     ? " counter\n"
                          : " gauge\n");
    for (const auto& metric : family.metric) {
      if (is_histogram) {
        append_histogram(text, family.name, metric);
      } else {
        append_sample(text, family.name, {}, metric, counts ? metric.counter.value : metric.gauge.value);
      }
    }
  }
  return text;
}

}  // namespace zklock::metrics

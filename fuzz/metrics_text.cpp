// Metrics come from services, which the dashboard was told to read.
#include "metrics_text.hpp"

#include "check.hpp"

using namespace zklock;
using namespace zklock::tools;
using fuzz::check;

void fuzz_one(std::string_view input) {
  const auto samples = parse_metrics(input, 100);
  check(samples.size() <= 100, "no more samples than allowed");
  for (const MetricSample& sample : samples) {
    check(sample.name.starts_with("zklock_"), "only zklock's own metrics");
    check(input.find(sample.name) != input.npos, "a name of the text");
  }
}

// The services' metrics: the text, and what is made of it.
#include "dashboard/scrape/quantiles.hpp"
#include "dashboard/scrape/scraper.hpp"
#include "failure.hpp"
#include "support/catch.hpp"

#include <limits>
#include <optional>
#include <string>

using namespace zklock::tools;

namespace {

/// "name{label=value,...}=number" for each sample.
std::string brief(const std::string& text) {
  std::string result;
  for (const MetricSample& sample : parse_metrics(text)) {
    result += sample.name + "{";
    for (const auto& [name, value] : sample.labels) result += name + "=" + value + ",";
    result += "}" + std::to_string(static_cast<int>(sample.value)) + " ";
  }
  return result;
}

std::string histogram(int ten_ms, int one_s, int all) {
  const auto line = [](const std::string& bound, int count) {
    return "zklock_acquire_wait_seconds_bucket{lock=\"/a\",le=\"" + bound + "\"} " + std::to_string(count) + "\n";
  };
  return line("0.01", ten_ms) + line("1", one_s) + line("+Inf", all);
}

bool is_near(std::optional<double> value, double expected) {
  return value && *value > expected - 1e-9 && *value < expected + 1e-9;
}

}  // namespace

TEST_CASE("samples are read as Prometheus writes them, and everything else is passed over") {
  struct Case {
    const char* text;
    const char* expected;
  };
  const auto [text, expected] = GENERATE(values<Case>({
      {"zklock_watches 3\n", "zklock_watches{}3 "},
      {"zklock_watches 3", "zklock_watches{}3 "},
      {"zklock_watches{} 3 1700000000000\n", "zklock_watches{}3 "},
      {"zklock_x{a=\"1\",b=\"two\"} 4.0e1\n", "zklock_x{a=1,b=two,}40 "},
      {"zklock_x{a=\"1\", b=\"2\",} 4\r\n", "zklock_x{a=1,b=2,}4 "},
      {R"(zklock_x{a="quote \" slash \\ brace } end"} 4)", R"(zklock_x{a=quote " slash \ brace } end,}4 )"},
      {"# HELP zklock_x help\n# TYPE zklock_x gauge\nzklock_x 1\n", "zklock_x{}1 "},
      {"process_cpu_seconds_total 7\n", ""},
      {"zklock_x\n", ""},
      {"zklock_x one\n", ""},
      {"zklock_x 1x\n", ""},
      {"zklock_x{a=\"1\n", ""},
      {"zklock_x{a=\"1\\", ""},
      {"zklock_x{a=1} 4\n", ""},
      {"zklock_x{=\"1\"} 4\n", ""},
      {"zklock_x{\n", ""},
      {"", ""},
      {"\n\n\n", ""},
  }));
  INFO(text);
  CHECK(brief(text) == expected);
}

TEST_CASE("no more samples are kept than allowed") {
  CHECK(parse_metrics("zklock_a 1\nzklock_b 1\nzklock_c 1\n", 2).size() == 2);
}

TEST_CASE("a quantile is interpolated within its bucket") {
  const Buckets buckets{{0.1, 50}, {1, 90}, {std::numeric_limits<double>::infinity(), 100}};
  CHECK(is_near(quantile(buckets, 0.5), 0.1));
  CHECK(is_near(quantile(buckets, 0.25), 0.05));
  CHECK(is_near(quantile(buckets, 0.7), 0.55));
  CHECK(is_near(quantile(buckets, 0.99), 1));  // beyond the last bound
  CHECK_FALSE(quantile({}, 0.5));
  CHECK_FALSE(quantile({{1, 0}}, 0.5));
}

TEST_CASE("quantiles are those of what was observed since the last time, from all services") {
  QuantileHistory history{"zklock_acquire_wait_seconds"};
  history.add("one", parse_metrics(histogram(1'000, 1'000, 1'000)));
  history.end_interval({});
  CHECK_FALSE(history.points().back().median);
  history.add("one", parse_metrics(histogram(1'010, 1'010, 1'010)));
  history.end_interval({});
  CHECK(is_near(history.points().back().median, 0.005));
  history.add("one", parse_metrics(histogram(1'010, 1'010, 1'010)));
  history.add("two", parse_metrics(histogram(5, 5, 5)));
  history.end_interval({});
  CHECK_FALSE(history.points().back().median);
  history.add("one", parse_metrics(histogram(1'010, 1'020, 1'020)));
  history.add("two", parse_metrics(histogram(15, 15, 15)));
  history.end_interval({});
  CHECK(*history.points().back().high > 0.9);
}

TEST_CASE("a service that was started again gives no negative rate") {
  QuantileHistory history{"zklock_acquire_wait_seconds"};
  history.add("one", parse_metrics(histogram(100, 200, 300)));
  history.add("one", parse_metrics(histogram(1, 2, 3)));
  history.end_interval({});
  CHECK_FALSE(history.points().back().median);
  history.add("one", parse_metrics(histogram(2, 3, 4)));
  history.end_interval({});
  CHECK(history.points().back().median);
}

TEST_CASE("an hour of intervals is kept") {
  QuantileHistory history{"zklock_hold_seconds"};
  for (int i = 0; i < 2'000; ++i) history.end_interval({});
  CHECK(history.points().size() == 720);
}

TEST_CASE("a target is a URL of plain HTTP") {
  const ScrapeTarget target = parse_target("http://app-1:9100/custom?x=1");
  CHECK(target.host == "app-1");
  CHECK(target.port == "9100");
  CHECK(target.path == "/custom?x=1");
  CHECK(parse_target("http://app").path == "/metrics");
  CHECK(parse_target("http://app").port == "80");
  for (const char* wrong : {"app:9100", "https://app/", "http://", "http:///x", "http://app /x", "http://app/\r\nx"})
    CHECK_THROWS_AS(parse_target(wrong), Failure);
}

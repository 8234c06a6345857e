// Durations, as they are written on a command line.
#include "duration.hpp"

#include "support/catch.hpp"

#include <stdexcept>
#include <string>

using namespace zklock::tools;
using namespace std::chrono_literals;

TEST_CASE("a duration is a number and a unit, or 0") {
  struct Row {
    std::string text;
    std::chrono::milliseconds duration;
  };
  const Row rows[] = {
      {"0", 0ms},
      {"0s", 0ms},
      {"0.0h", 0ms},
      {"500ms", 500ms},
      {"5s", 5s},
      {"1.5s", 1500ms},
      {"0.001s", 1ms},
      {"1.500000000s", 1500ms},
      {"2m", 2min},
      {"0.25m", 15s},
      {"1.5h", 90min},
      {"8760h", 24h * 365},
      {"8759.5h", 24h * 365 - 30min},
      {"31536000000ms", 24h * 365},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(parse_duration(row.text) == row.duration);
  }
}

TEST_CASE("a text that is no duration of whole milliseconds up to a year is refused") {
  for (const char* text : {"",
                           "5",
                           "s",
                           "-1s",
                           "+1s",
                           "1 s",
                           "1,5s",
                           "1.s",
                           ".5s",
                           "1..5s",
                           "1.5.5s",
                           "1e3s",
                           "5sec",
                           "0.0005s",
                           "0.5ms",
                           "8760.1h",
                           "31536000001ms",
                           "99999999999999999999s",
                           "1.0000000000s",
                           "18446744073709551615h",
                           "0x1s",
                           "00"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_duration(text), std::invalid_argument);
  }
}

TEST_CASE("a duration is written in the largest unit that is exact") {
  CHECK(format_duration(0ms) == "0ms");
  CHECK(format_duration(1500ms) == "1500ms");
  CHECK(format_duration(90s) == "90s");
  CHECK(format_duration(2h) == "2h");
}

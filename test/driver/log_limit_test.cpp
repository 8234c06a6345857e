#include "log_limit.hpp"

#include "library_line.hpp"
#include "support/catch.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

Clock::time_point at(Clock::duration since) { return Clock::time_point{} + 1h + since; }

/// How many log lines pass in a minute with one line every `pause`.
int lines_of_a_minute(LogLimit& limit, Clock::duration begin, Clock::duration pause) {
  int written = 0;
  for (Clock::duration now = begin; now < begin + 60s; now += pause)
    if (limit.admit(at(now))) ++written;
  return written;
}

}  // namespace

TEST_CASE("of a flood of log lines a few are written at once, then one now and then with the number held back") {
  LogLimit limit;
  for (int i = 0; i < LogLimit::at_once; ++i) CHECK(limit.admit(at(0s)) == 0U);
  for (int i = 0; i < 7; ++i) CHECK(limit.admit(at(1s)) == std::nullopt);
  CHECK(limit.admit(at(LogLimit::interval)) == 7U);
  CHECK(limit.admit(at(LogLimit::interval)) == std::nullopt);
  CHECK(limit.take_held_back() == 1);
  CHECK(limit.take_held_back() == 0);
  CHECK(limit.admit(at(2 * LogLimit::interval)) == 0U);

  LogLimit outage;
  CHECK(lines_of_a_minute(outage, 0s, 125ms) == LogLimit::at_once + 5);
  CHECK(lines_of_a_minute(outage, 60s, 125ms) == 6);
}

TEST_CASE("log lines that come one by one are all written, and a long silence allows only a few at once") {
  LogLimit limit;
  CHECK(lines_of_a_minute(limit, 0s, LogLimit::interval) == 6);
  CHECK(limit.take_held_back() == 0);
  int written = 0;
  for (int i = 0; i < 100; ++i)
    if (limit.admit(at(24h))) ++written;
  CHECK(written == LogLimit::at_once);
  CHECK(limit.take_held_back() == 100 - LogLimit::at_once);
}

TEST_CASE("the C client's own time, process and thread are cut off its log lines") {
  const std::string message = "ZOO_ERROR@handle_socket_error_msg@2028: Socket [127.0.0.1:2181] zk retcode=-4";
  CHECK(without_stamp("2026-11-22 15:20:34,123:4711(0x7f0000000000):" + message) == message);
  CHECK(without_stamp("2026-11-22 15:20:34,123:4711:" + message) == message);
  CHECK(without_stamp(message) == message);
  CHECK(without_stamp("ZOO_WARN@f@1: /x:ZOO_INFO") == "ZOO_WARN@f@1: /x:ZOO_INFO");
  CHECK(without_stamp("") == "");
  CHECK(without_stamp("something else") == "something else");
  CHECK(without_stamp("2026-11-22 15:20:34,123:4711(0x7f):ZOO_WARN@f@1: a node named /x:ZOO_INFO") ==
        "ZOO_WARN@f@1: a node named /x:ZOO_INFO");
}

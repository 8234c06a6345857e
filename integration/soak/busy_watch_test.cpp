// What the overload run takes for the library's own work, and what for the machine's stalls.
#include "busy_watch.hpp"

#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <boost/asio/post.hpp>

#include <ctime>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr Clock::time_point start{};

Interval between(std::chrono::milliseconds from, std::chrono::milliseconds to) { return {start + from, start + to}; }

}  // namespace

TEST_CASE("the time for which a processor stood still is not the thread's own work") {
  struct Case {
    const char* title;
    std::vector<std::vector<Interval>> stalls;
    double own;  // of 80 ms, from 100 to 200
  };
  const std::vector<Case> cases{
      {"no stall", {{}, {}}, 80},
      {"a stall within", {{between(120ms, 150ms)}, {}}, 50},
      {"a stall of the other processor", {{}, {between(120ms, 150ms)}}, 50},
      {"stalls of both at the same time count once", {{between(120ms, 150ms)}, {between(120ms, 150ms)}}, 50},
      {"of two processors the longer counts", {{between(120ms, 130ms)}, {between(140ms, 160ms)}}, 60},
      {"two stalls of one processor", {{between(110ms, 120ms), between(150ms, 165ms)}, {}}, 55},
      {"a stall that began before", {{between(50ms, 110ms)}, {}}, 70},
      {"a stall that ended later", {{between(190ms, 900ms)}, {}}, 70},
      {"stalls before and after", {{between(0ms, 100ms), between(200ms, 300ms)}, {}}, 80},
      {"a longer stall than the work", {{between(100ms, 200ms)}, {}}, 0},
  };
  for (const Case& each : cases) {
    CAPTURE(each.title);
    CHECK(own_work({between(100ms, 200ms), Milliseconds{80}}, each.stalls).count() == Catch::Approx(each.own));
  }
}

TEST_CASE("a thread that works for long without a look at its sockets is found") {
  const Client client{ClientConfig{.connect_string = "127.0.0.1:1"}};
  BusyWatch watch{client};
  asio::post(client.get_executor(), [] {
    const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 5;
    while (std::clock() < end) {
    }
  });
  Milliseconds longest{};
  CHECK(eventually([&] { return (longest = std::max(longest, watch.take_longest())) > Milliseconds{100}; }));
}

#include "turn_queue.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

constexpr Clock::time_point start{1h};

/// What happens at a time: "a" enters, "-a" leaves, "=a" gets a turn, "=" no entry does, "<" gives the last turn back.
struct Step {
  Clock::duration at;
  std::string what;
};

struct Case {
  const char* title;
  std::vector<Step> steps;
};

const Case cases[] = {
    {"so many at once, then one each interval",
     {{0ms, "a"},
      {0ms, "b"},
      {0ms, "c"},
      {0ms, "d"},
      {0ms, "e"},
      {0ms, "=a"},
      {0ms, "=b"},
      {0ms, "=c"},
      {0ms, "="},
      {99ms, "="},
      {100ms, "=d"},
      {199ms, "="},
      {200ms, "=e"}}},
    {"what is not used is saved up to the burst, and no further",
     {{0ms, "a"},
      {0ms, "=a"},
      {1h, "b"},
      {1h, "c"},
      {1h, "d"},
      {1h, "e"},
      {1h, "=b"},
      {1h, "=c"},
      {1h, "=d"},
      {1h, "="}}},
    {"a waiter that leaves takes no turn: the next waiter has it",
     {{0ms, "a"},
      {0ms, "b"},
      {0ms, "c"},
      {0ms, "=a"},
      {0ms, "=b"},
      {0ms, "=c"},
      {0ms, "d"},
      {0ms, "e"},
      {50ms, "-d"},
      {99ms, "="},
      {100ms, "=e"}}},
    {"when all have left nothing is owed",
     {{0ms, "a"},
      {0ms, "b"},
      {0ms, "-a"},
      {0ms, "-b"},
      {0ms, "c"},
      {0ms, "d"},
      {0ms, "e"},
      {0ms, "=c"},
      {0ms, "=d"},
      {0ms, "=e"}}},
    {"a turn that is given back is the next one's",
     {{0ms, "a"},
      {0ms, "b"},
      {0ms, "c"},
      {0ms, "d"},
      {0ms, "=a"},
      {0ms, "=b"},
      {0ms, "=c"},
      {0ms, "="},
      {0ms, "<"},
      {0ms, "=d"}}},
};

}  // namespace

TEST_CASE("turns are taken when they are due, in the order of the queue") {
  for (const Case& each : cases) {
    CAPTURE(each.title);
    TurnQueue<std::string> queue{100ms, 3};
    std::vector<TurnQueue<std::string>::Place> places;
    for (const Step& step : each.steps) {
      const auto& at = step.at;
      const auto& what = step.what;
      CAPTURE(at.count(), what);
      if (what.starts_with('-')) {
        const auto leaving =
            std::find_if(places.begin(), places.end(), [&](const auto& place) { return *place == what.substr(1); });
        const auto place = *leaving;
        places.erase(leaving);
        queue.leave(place);
      } else if (what.starts_with('=')) {
        const auto taken = queue.take(start + at);
        CHECK(taken.value_or("") == what.substr(1));
        if (taken) places.erase(places.begin());
      } else if (what == "<") {
        queue.give_back();
      } else {
        places.push_back(queue.enter(what));
      }
    }
  }
}

TEST_CASE("a newcomer's turn comes when the queue has predicted it") {
  TurnQueue<int> queue{10ms, 100};
  std::vector<Clock::time_point> foretold;
  for (int i = 0; i < 1'000; ++i) {
    foretold.push_back(queue.turn_of_newcomer(start));
    queue.enter(i);
  }
  CHECK(foretold[99] == start);
  CHECK(foretold[100] == start + 10ms);
  CHECK(foretold.back() == start + 9s);
  for (auto now = start; queue.next_turn(now);) {
    const auto next = *queue.next_turn(now);
    CHECK((next == now || !queue.take(now)));
    now = next;
    const auto turn = queue.take(now);
    REQUIRE(turn);
    CHECK(foretold[static_cast<std::size_t>(*turn)] == now);
  }
  CHECK(queue.size() == 0);
}

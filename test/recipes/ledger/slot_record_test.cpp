// What a slot says of a transaction whose reply was lost.
#include "slot_record.hpp"

#include "support/catch.hpp"

#include <limits>
#include <string>

using namespace zklock;
using namespace zklock::detail;
using namespace std::chrono_literals;

TEST_CASE("a slot tells whether the transaction was carried out that was sent from its version") {
  struct Row {
    const char* title;
    std::optional<SeenSlot> seen;
    Clock::duration age;
    AfterLoss verdict;
  };
  const Row rows[] = {
      {"as before", SeenSlot{7, "7 done"}, 1s, AfterLoss::again},
      {"as before, new", SeenSlot{7, ""}, 1s, AfterLoss::again},
      {"done", SeenSlot{8, "8 done"}, 1s, AfterLoss::done},
      {"done, long ago", SeenSlot{8, "8 done"}, 48h, AfterLoss::done},
      {"given up", SeenSlot{8, "8 void"}, 1s, AfterLoss::is_void},
      {"of a later transaction", SeenSlot{9, "9 done"}, 1s, AfterLoss::unknown},
      {"another's", SeenSlot{8, "hello"}, 1s, AfterLoss::unknown},
      {"made anew", SeenSlot{0, ""}, 1s, AfterLoss::unknown},
      {"swept before it was sent", std::nullopt, 24h - 1ns, AfterLoss::elsewhere},
      {"swept, perhaps after it was carried out", std::nullopt, 24h, AfterLoss::unknown},
  };
  for (const Row& row : rows) {
    INFO(row.title);
    CHECK(after_loss(7, row.seen, row.age) == row.verdict);
  }
}

TEST_CASE("a slot's marks do not wrap") {
  CHECK(done_mark(0) == "1 done");
  CHECK(void_mark(std::numeric_limits<std::int32_t>::max()) == "2147483648 void");
}

TEST_CASE("a key of any text is one name") {
  CHECK(escaped("order-4711") == "order-4711");
  CHECK(escaped("/orders/50%") == "%2Forders%2F50%25");
  CHECK(escaped("%2F") == "%252F");
  CHECK(escaped("..") == "%2E%2E");
  CHECK(escaped("..a") == "..a");
}

#include "worker_steps.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace zklock;

namespace {

constexpr int version = 4;

NumberSeen seen(int now, std::string owner, std::string holder) {
  return {{.end = 1'000, .owner = std::move(owner), .version = now}, std::move(holder)};
}

}  // namespace

TEST_CASE("what has come of a write to a worker id is told by last/<n> and ids/<n>") {
  struct Row {
    WorkerWrite write;
    NumberSeen seen;
    WorkerOutcome outcome;
  };
  using enum WorkerWrite;
  using Outcome = WorkerOutcome;
  const std::vector<Row> table{{acquire, seen(4, "other", ""), Outcome::again},      //
                               {acquire, seen(5, "me", "me"), Outcome::done},        //
                               {acquire, seen(4, "other", "other"), Outcome::lost},  //
                               {acquire, seen(5, "other", "other"), Outcome::lost},  //
                               {acquire, seen(5, "other", ""), Outcome::lost},  // another has acquired and released it
                               {acquire, seen(5, "me", ""), Outcome::lost},     // an operator has deleted ids/<n>
                               {acquire, seen(6, "other", "me"), Outcome::lost},    //
                               {acquire, {}, Outcome::lost},                        // an operator has deleted last/<n>
                               {extend, seen(4, "me", "me"), Outcome::again},       //
                               {extend, seen(5, "me", "me"), Outcome::done},        //
                               {extend, seen(4, "me", ""), Outcome::lost},          // W5: it is free
                               {extend, seen(5, "other", "other"), Outcome::lost},  //
                               {extend, seen(5, "me", ""), Outcome::lost},          //
                               {release, seen(4, "me", "me"), Outcome::again},      //
                               {release, seen(5, "me", ""), Outcome::lost},  // done: it is not its owner's any more
                               {release, seen(6, "other", "other"), Outcome::lost}};  //
  for (const Row& row : table) {
    CAPTURE(row.write, row.seen.last.version, row.seen.last.owner, row.seen.holder);
    CHECK(outcome_of_write(row.write, row.seen, "me", version) == row.outcome);
  }
  CHECK(outcome_of_write(acquire, {}, "me", LastUse::absent) == Outcome::again);
  CHECK(outcome_of_write(acquire, seen(0, "me", "me"), "me", LastUse::absent) == Outcome::done);
}

TEST_CASE("last/<n> is read as it is written, and what is no such record is never used up") {
  const LastUse last = decode_last_use(encode({.end = 1'700'000'000'123, .owner = "a-b"}), 7);
  CHECK(last.end == 1'700'000'000'123);
  CHECK(last.owner == "a-b");
  CHECK(last.version == 7);
  for (const char* data : {"", "12", "x y", "-5 a", " 5 a", "99999999999999999999 a"})
    CHECK(decode_last_use(data, 0).end == LastUse::never);
}

TEST_CASE("numbers that are taken are not free, and other names take none") {
  CHECK(free_numbers({"1", "3", "77", "x", "-1", ""}, 4) == std::vector<int>{0, 2});
  CHECK(free_numbers({"0"}, 1).empty());
}

#include "keep_history.hpp"

#include "support/catch.hpp"

using namespace zklock::detail;

namespace {

/// A kept node is granted so often, and another client asks for it.
void keep(KeepHistory& history, int grants, KeepChance chance = KeepChance::if_adjacent) {
  history.on_kept(chance);
  for (int i = 0; i < grants; ++i) history.on_granted();
  history.on_stranger();
  history.on_given_up();
}

}  // namespace

TEST_CASE("an acquire may keep its node by its chance, or if nobody has come between") {
  CHECK_FALSE(may_keep(KeepChance::none, true));
  CHECK_FALSE(may_keep(KeepChance::none, false));
  CHECK(may_keep(KeepChance::if_adjacent, true));
  CHECK_FALSE(may_keep(KeepChance::if_adjacent, false));
  CHECK(may_keep(KeepChance::sure, true));
  CHECK(may_keep(KeepChance::sure, false));
}

TEST_CASE("an acquire has a chance to keep the lock if the one before it had nobody between") {
  KeepHistory history;
  CHECK(history.take_chance() == KeepChance::none);
  history.on_enqueued(false);
  CHECK(history.take_chance() == KeepChance::none);
  history.on_enqueued(true);
  CHECK(history.is_alone());
  CHECK(history.take_chance() == KeepChance::if_adjacent);
  history.on_enqueued(false);
  CHECK(history.take_chance() == KeepChance::none);
  history.on_enqueued(true);
  history.on_stranger();
  CHECK_FALSE(history.is_alone());
  CHECK(history.take_chance() == KeepChance::none);
}

TEST_CASE("two acquires have a chance to keep the lock again if the last keeping has paid") {
  KeepHistory history;
  keep(history, KeepHistory::enough_grants);
  CHECK(history.take_chance() == KeepChance::sure);
  history.on_enqueued(false);
  history.on_stranger();
  CHECK(history.take_chance() == KeepChance::sure);
  history.on_enqueued(false);
  CHECK(history.take_chance() == KeepChance::none);
}

TEST_CASE("a keeping that was begun again at once is not begun again at once another time") {
  KeepHistory history;
  keep(history, 100);
  keep(history, 100, history.take_chance());
  CHECK(history.take_chance() == KeepChance::none);
  keep(history, 100);
  CHECK(history.take_chance() == KeepChance::sure);
}

TEST_CASE("a keeping that has not paid gives no chance, and takes those that were left") {
  KeepHistory history;
  keep(history, KeepHistory::enough_grants - 1);
  CHECK(history.take_chance() == KeepChance::none);
  keep(history, 1'000);
  CHECK(history.take_chance() == KeepChance::sure);  // one is left
  keep(history, 0);
  CHECK(history.take_chance() == KeepChance::none);
  keep(history, 1);  // each keeping is counted by itself
  keep(history, KeepHistory::enough_grants - 1);
  CHECK(history.take_chance() == KeepChance::none);
}

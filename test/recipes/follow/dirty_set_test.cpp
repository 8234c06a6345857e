// Which items are read, as stories.
#include "dirty_set.hpp"

#include "support/catch.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace zklock;

namespace {

constexpr auto soon = DirtySet::Urgency::soon;
constexpr auto late = DirtySet::Urgency::late;
constexpr auto none = DirtySet::Duty::none;
constexpr auto owed = DirtySet::Duty::owed;
constexpr auto read = DirtySet::Answer::read;
constexpr auto failed = DirtySet::Answer::failed;

const Item a{WatchKind::data, "/a"};
const Item b{WatchKind::data, "/b"};
const Item c{WatchKind::children, "/a"};

using Items = std::vector<Item>;

struct Fixture {
  DirtySet dirty;
  std::vector<DirtySet::Read> reads;

  Items take(std::size_t limit = 100) {
    reads = dirty.take(limit);
    Items items;
    for (const auto& each : reads) items.push_back(each.item);
    return items;
  }
  std::optional<DirtySet::Duty> answer(std::size_t index, DirtySet::Answer answer) {
    const auto [counts, duty] = dirty.answered(reads.at(index), answer);
    return counts ? std::optional{duty} : std::nullopt;
  }
  /// Adds it and reads it.
  void know(const Item& item) {
    dirty.add(item, soon, none);
    REQUIRE(take() == Items{item});
    REQUIRE(answer(0, read) == none);
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a new item is read once, and again after an event") {
  know(a);
  CHECK(take().empty());
  dirty.mark(a);
  dirty.mark(a);
  CHECK(take() == Items{a});
  CHECK(answer(0, read));
  CHECK(take().empty());
  dirty.mark(b);  // nobody follows it
  CHECK(take().empty());
}

TEST_CASE_METHOD(Fixture, "an item stays dirty until a read has succeeded") {
  dirty.add(a, soon, none);
  for (int i = 0; i < 3; ++i) {
    CHECK(take() == Items{a});
    CHECK(answer(0, failed));
    CHECK_FALSE(answer(0, read));  // a read has one answer
  }
  CHECK(take() == Items{a});
}

TEST_CASE_METHOD(Fixture, "a read under way shows what an event tells meanwhile") {
  know(a);
  dirty.mark(a);
  CHECK(take() == Items{a});
  dirty.mark(a);
  dirty.hold(a);
  CHECK(answer(0, read));
  CHECK(take().empty());
}

TEST_CASE_METHOD(Fixture, "a deleted node is read only when its parent's list names it again") {
  know(a);
  dirty.release(a);
  CHECK(take().empty());
  dirty.hold(a);
  dirty.mark(a);
  CHECK(take().empty());
  dirty.release(a);
  CHECK(take() == Items{a});
}

TEST_CASE_METHOD(Fixture, "at most so many reads are under way, first come first read, late ones last") {
  dirty.add(c, late, none);
  dirty.add(b, soon, none);
  dirty.add(a, soon, none);
  CHECK(take(2) == Items{b, a});
  CHECK(dirty.under_way() == 2);
  CHECK(dirty.take(2).empty());
  CHECK(answer(0, read));
  CHECK(take(2) == Items{c});
}

TEST_CASE_METHOD(Fixture, "a new session reads all, and answers of the old one count for nothing") {
  know(a);
  dirty.add(b, soon, none);
  CHECK(take() == Items{b});
  const auto old = reads;
  dirty.hold(a);
  dirty.mark_all();
  CHECK(dirty.under_way() == 0);
  CHECK_FALSE(dirty.answered(old[0], read).first);
  CHECK(take().size() == 2);
  CHECK_FALSE(dirty.answered(old[0], failed).first);
}

TEST_CASE_METHOD(Fixture, "the answer for an item that was dropped counts for nothing, also if it was added again") {
  dirty.add(a, soon, owed);
  CHECK(take() == Items{a});
  dirty.drop(a);
  CHECK(dirty.under_way() == 0);
  CHECK(dirty.owed(soon) == 0);
  CHECK_FALSE(answer(0, read));
  const auto old = reads;
  dirty.add(a, soon, none);
  CHECK(take() == Items{a});
  CHECK_FALSE(dirty.answered(old[0], read).first);
  CHECK(answer(0, read));
}

TEST_CASE_METHOD(Fixture,
                 "what is unfinished at a moment is owed until it was read or dropped, and later changes are not") {
  know(a);
  know(b);
  dirty.mark(a);
  dirty.hold(b);
  dirty.add(c, late, none);
  dirty.owe_unfinished();
  CHECK(dirty.owed(soon) == 2);
  CHECK(dirty.owed(late) == 1);
  CHECK(take() == Items{a, c});
  CHECK(answer(0, failed) == owed);
  CHECK(answer(1, read) == owed);
  CHECK(dirty.owed(soon) == 2);
  CHECK(dirty.owed(late) == 0);
  CHECK(take() == Items{a});
  CHECK(answer(0, read) == owed);
  dirty.mark(a);
  CHECK(dirty.owed(soon) == 1);
  dirty.drop(b);
  CHECK(dirty.owed(soon) == 0);
  CHECK(take() == Items{a});
  CHECK(answer(0, read) == none);
}

// What a reader of a group's changes is told.
#include "group_changes.hpp"

#include "support/catch.hpp"

#include <random>

using namespace zklock;

namespace {

Member member(std::int64_t czxid, std::string payload = "") {
  Member one;
  one.czxid = czxid;
  one.payload = std::move(payload);
  return one;
}

/// All changes from one to the other, as text. Afterwards `known` is `now`.
std::string changes(MemberMap& known, const MemberMap& now) {
  std::string all;
  while (const auto change = next_change(known, now)) {
    const char* kinds[] = {"+", "-", "~"};
    all += kinds[static_cast<int>(change->kind)] + change->id + std::to_string(change->member.czxid) +
           change->member.payload + " ";
  }
  return all;
}

}  // namespace

TEST_CASE("a reader is told the difference to what it knows, and what left first") {
  struct Row {
    MemberMap known;
    MemberMap now;
    std::string changes;
  };
  const Row rows[] = {
      {{}, {}, ""},
      {{}, {{"a", member(1)}}, "+a1 "},
      {{}, {{"b", member(1)}, {"a", member(2)}}, "+a2 +b1 "},
      {{{"a", member(1)}}, {}, "-a1 "},
      {{{"a", member(1)}}, {{"a", member(1)}}, ""},
      {{{"a", member(1, "x")}}, {{"a", member(1, "y")}}, "~a1y "},
      {{{"a", member(1)}}, {{"a", member(2)}}, "-a1 +a2 "},
      {{{"a", member(1)}}, {{"b", member(2)}}, "-a1 +b2 "},
      {{{"a", member(1)}, {"b", member(2, "x")}, {"c", member(3)}},
       {{"a", member(4)}, {"b", member(2, "y")}, {"d", member(5)}},
       "-a1 -c3 +a4 ~b2y +d5 "},
  };
  for (Row row : rows) {
    CHECK(changes(row.known, row.now) == row.changes);
    CHECK(row.known == row.now);
  }
}

TEST_CASE("the sum of a group's changes is its members, however few of its states a reader sees") {
  std::mt19937 random{1};
  MemberMap known;
  MemberMap now;
  for (std::int64_t zxid = 1; zxid < 5000; ++zxid) {
    const std::string id(1, static_cast<char>('a' + random() % 8));
    if (random() % 3 == 0)
      now.erase(id);
    else if (random() % 2 == 0)
      now.insert_or_assign(id, member(zxid));
    else if (now.contains(id))
      now[id].payload = std::to_string(zxid);
    for (auto reads = random() % 3; reads > 0; --reads) static_cast<void>(next_change(known, now));
    if (random() % 50 != 0) continue;
    static_cast<void>(changes(known, now));
    CHECK(known == now);
  }
}

TEST_CASE("what a reader has not read is the difference to the last members, and nothing once it has read all") {
  UnreadChanges unread;
  CHECK(unread.empty());
  unread.push(std::make_shared<const MemberMap>(MemberMap{{"a", member(1)}, {"b", member(2)}}));
  CHECK(unread.pop().id == "a");
  CHECK_FALSE(unread.empty());
  unread.push(std::make_shared<const MemberMap>(MemberMap{{"a", member(3)}}));  // b came and went
  GroupChange change = unread.pop();
  CHECK(change.kind == GroupChangeKind::left);
  CHECK(change.member.czxid == 1);
  change = unread.pop();
  CHECK(change.kind == GroupChangeKind::joined);
  CHECK(change.member.czxid == 3);
  CHECK(unread.empty());
  unread.push(std::make_shared<const MemberMap>());
  unread.clear();
  CHECK(unread.empty());
}

// What a slow reader of a watch gets for the changes that it has not read.
#include "watch_merging.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace zklock;

namespace {

using Kind = DataChange::Kind;

DataChange data(Kind kind, std::optional<std::int32_t> version = {}, std::int64_t skipped = 0) {
  DataChange change{.kind = kind, .skipped = skipped};
  if (!version) return change;
  Stat& stat = change.node.emplace().stat;
  stat.version = *version;
  stat.mzxid = 100 + *version;
  return change;
}

}  // namespace

TEST_CASE("changes of data merge into what they are to a reader who has seen none of them") {
  struct Row {
    DataChange first, second;
    std::optional<Kind> merged;  // empty: they add up to nothing
    std::int64_t skipped;
  };
  const Row rows[] = {
      {data(Kind::initial, 3), data(Kind::changed, 4), Kind::initial, 0},
      {data(Kind::initial), data(Kind::created, 0), Kind::initial, 0},
      {data(Kind::initial, 3), data(Kind::deleted), Kind::initial, 0},
      {data(Kind::created, 0), data(Kind::changed, 4, 3), Kind::created, 4},
      {data(Kind::created, 0), data(Kind::recreated, 2, 2), Kind::created, 2},
      {data(Kind::created, 0), data(Kind::deleted), {}, 0},
      {data(Kind::changed, 5), data(Kind::changed, 6), Kind::changed, 1},
      {data(Kind::changed, 5, 2), data(Kind::changed, 8, 2), Kind::changed, 5},
      {data(Kind::changed, 5, 2), data(Kind::recreated, 1, 1), Kind::recreated, 1},
      {data(Kind::changed, 5), data(Kind::deleted), Kind::deleted, 0},
      {data(Kind::recreated, 0), data(Kind::changed, 1), Kind::recreated, 1},
      {data(Kind::recreated, 0), data(Kind::deleted), Kind::deleted, 0},
      {data(Kind::deleted), data(Kind::created, 2, 2), Kind::recreated, 2},
      {data(Kind::changed, 1, 1), data(Kind::unreadable), Kind::unreadable, 1},
      {data(Kind::created, 0), data(Kind::unreadable), Kind::unreadable, 0},
      {data(Kind::initial, 3), data(Kind::unreadable), Kind::initial, 0},
      {data(Kind::deleted), data(Kind::unreadable), Kind::unreadable, 0},
      {data(Kind::unreadable), data(Kind::changed, 1), Kind::changed, 0},
      {data(Kind::unreadable, {}, 2), data(Kind::changed, 5, 1), Kind::changed, 3},
      {data(Kind::unreadable, {}, 2), data(Kind::recreated, 0), Kind::recreated, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(&row - rows);
    UnreadData unread;
    unread.push(row.first);
    unread.push(row.second);
    CHECK(unread.empty() != row.merged.has_value());
    if (!row.merged) continue;
    const DataChange both = unread.pop();
    CHECK(unread.empty());
    CHECK(both.kind == *row.merged);
    CHECK(both.skipped == row.skipped);
    CHECK(both.node.has_value() == row.second.node.has_value());
  }
}

TEST_CASE("each version of a node is shown, or counted as skipped, once, also if it is unreadable between") {
  std::mt19937 random{3};
  for (int round = 0; round < 500; ++round) {
    UnreadData unread;
    std::set<std::int32_t> shown;
    std::int64_t skipped = 0;
    const auto read = [&] {
      const DataChange change = unread.pop();
      skipped += change.skipped;
      if (change.node) shown.insert(change.node->stat.version);
    };
    unread.push(data(Kind::initial, 0));
    read();
    std::int32_t version = 0;
    std::int32_t seen = 0;  // by the watcher
    bool is_readable = true;
    for (int step = 0; step < 20 || !is_readable; ++step) {
      version += static_cast<std::int32_t>(random() % 3);
      const bool was_readable = std::exchange(is_readable, random() % 2 == 0);
      if (is_readable && (version != seen || !was_readable))
        unread.push(data(Kind::changed, version, std::max(version - seen - 1, 0)));
      if (is_readable) seen = version;
      if (!is_readable && was_readable) unread.push(data(Kind::unreadable));
      if (!unread.empty() && random() % 3 == 0) read();
    }
    if (!unread.empty()) read();
    CHECK(skipped + static_cast<std::int64_t>(shown.size()) == seen + 1);
  }
}

TEST_CASE("the changes of a list add up to the list, however many of them are merged") {
  std::mt19937 random{7};
  const std::vector<std::string> all = {"a", "b", "c", "d", "e"};
  for (int round = 0; round < 500; ++round) {
    std::set<std::string> truth;
    std::set<std::string> seen;
    std::int64_t creations = 0;
    std::int64_t shown = 0;
    MergingList<ChildrenChange> unread;
    for (int step = 0; step < 20; ++step) {
      ChildrenChange change;
      for (const std::string& name : all) {
        const auto dice = random() % 6;
        const bool was_there = truth.contains(name);
        if (was_there && dice < 2) change.removed.push_back(name);
        if (was_there && dice < 2) truth.erase(name);
        if ((was_there && dice == 0) || (!was_there && dice < 3)) change.added.push_back(name);
        if ((was_there && dice == 0) || (!was_there && dice < 3)) truth.insert(name);
      }
      creations += static_cast<std::int64_t>(change.added.size());
      change.names.assign(truth.begin(), truth.end());
      unread.push(std::move(change));
      CHECK(unread.size() == 1);
      if (random() % 3 != 0) continue;
      const ChildrenChange read = unread.pop();
      for (const std::string& name : read.removed) CHECK(seen.erase(name) == 1);
      for (const std::string& name : read.added) CHECK(seen.insert(name).second);
      shown += static_cast<std::int64_t>(read.added.size()) + read.unseen;
      CHECK(seen == truth);
      CHECK(std::ranges::equal(read.names, truth));
      CHECK(shown == creations);  // each child was shown, or is counted
    }
  }
}

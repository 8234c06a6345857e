// What a slow reader of a cache gets for the events that it has not read.
#include "cache_merging.hpp"

#include "support/catch.hpp"

#include <zklock/path.hpp>

#include <map>
#include <random>
#include <string>
#include <vector>

using namespace zklock;

namespace {

using Type = CacheEvent::Type;

ChildDataPtr node(const std::string& path, std::int64_t czxid, std::int64_t mzxid, std::int32_t version,
                  error_code error = {}) {
  ChildData data{path, "", {}, error};
  data.stat.czxid = czxid;
  data.stat.mzxid = mzxid;
  data.stat.version = version;
  return std::make_shared<const ChildData>(std::move(data));
}

/// Folds an event in as a user would, and checks that it fits what is there.
void fold(std::map<std::string, ChildDataPtr>& known, const CacheEvent& event) {
  const std::string parent{parent_path(event.path)};
  switch (event.type) {
    case Type::created:
    case Type::changed:
    case Type::unreadable:
      CHECK(event.now);
      CHECK(known[event.path] == event.before);
      CHECK((event.path == "/r" || known[parent]));  // parents come first
      known[event.path] = event.now;
      return;
    case Type::deleted:
      CHECK(known.at(event.path) == event.before);
      for (const auto& [path, data] : known) CHECK_FALSE((data && path.starts_with(event.path + "/")));
      known[event.path] = nullptr;
      return;
    case Type::reset: known.clear(); return;
    case Type::initialized:
    case Type::live:
    case Type::stale: return;
  }
}

/// A tree that changes at random, parents first and children last.
struct RandomTree {
  std::mt19937 random;
  std::map<std::string, ChildDataPtr> nodes{};
  std::int64_t zxid = 0;

  CacheEvent change(const std::string& path) {
    ChildDataPtr& now = nodes[path];
    ChildDataPtr before = now;
    const std::int64_t at = ++zxid;
    now = now ? node(path, now->stat.czxid, at, now->stat.version + 1 + static_cast<std::int32_t>(random() % 3),
                     random() % 9 == 0 ? make_error_code(Error::no_auth) : error_code{})
              : node(path, at, at, 0);
    return change_of(path, std::move(before), now);
  }
  /// Deletes what is there below a path, and the node itself.
  std::vector<CacheEvent> remove(const std::string& path) {
    std::vector<CacheEvent> events;
    for (auto each = nodes.rbegin(); each != nodes.rend(); ++each) {
      if (!each->second || (each->first != path && !each->first.starts_with(path + "/"))) continue;
      events.push_back(change_of(each->first, std::exchange(each->second, nullptr), nullptr));
    }
    return events;
  }
};

}  // namespace

TEST_CASE("events of one node merge into what they are to a reader who has seen none of them") {
  const ChildDataPtr first = node("/a", 1, 1, 0);
  const ChildDataPtr second = node("/a", 1, 3, 2);
  const ChildDataPtr third = node("/a", 1, 7, 5);
  const ChildDataPtr other = node("/a", 9, 9, 0);
  const ChildDataPtr closed = node("/a", 1, 3, 2, make_error_code(Error::no_auth));
  struct Row {
    ChildDataPtr before, between, now;
    Type merged;
    std::int64_t skipped;
    MergedPlace place;
  };
  const Row rows[] = {
      {nullptr, first, second, Type::created, 2, MergedPlace::first},
      {nullptr, first, nullptr, Type::deleted, 0, MergedPlace::nowhere},
      {first, second, third, Type::changed, 4, MergedPlace::first},
      {first, nullptr, other, Type::changed, 0, MergedPlace::first},
      {first, second, nullptr, Type::deleted, 0, MergedPlace::last},
      {first, closed, third, Type::changed, 4, MergedPlace::first},
      {first, second, closed, Type::unreadable, 0, MergedPlace::first},
      {nullptr, closed, third, Type::created, 5, MergedPlace::first},
  };
  for (const Row& row : rows) {
    CAPTURE(&row - rows);
    CacheEvent event = change_of("/a", row.before, row.between);
    CHECK(Merging<CacheEvent>::merge(event, change_of("/a", row.between, row.now)) == row.place);
    if (row.place == MergedPlace::nowhere) continue;
    CHECK(event.type == row.merged);
    CHECK(event.before == row.before);
    CHECK(event.now == row.now);
    CHECK(event.skipped == row.skipped);
  }
}

TEST_CASE("of unread changes of freshness the last one counts, behind all that it speaks of") {
  MergingList<CacheEvent> unread;
  unread.push({Type::stale});
  unread.push(change_of("/a", nullptr, node("/a", 1, 1, 0)));
  unread.push({Type::live});
  CHECK(unread.pop().type == Type::created);
  CHECK(unread.pop().type == Type::live);
  CHECK(unread.empty());
}

TEST_CASE("the events of a cache add up to its nodes, parents first, however slowly they are read") {
  const std::vector<std::string> paths = {"/r", "/r/a", "/r/a/x", "/r/a/y", "/r/b", "/r/b/z", "/r/b-c"};
  for (unsigned round = 0; round < 300; ++round) {
    RandomTree tree{std::mt19937{round}};
    std::map<std::string, ChildDataPtr> known;
    MergingList<CacheEvent> unread;
    for (int step = 0; step < 60; ++step) {
      const std::string& path = paths[tree.random() % paths.size()];
      const ChildDataPtr parent = path == "/r" ? nullptr : tree.nodes[std::string{parent_path(path)}];
      if (tree.random() % 3 == 0) {
        for (CacheEvent& event : tree.remove(path)) unread.push(std::move(event));
      } else if (path == "/r" || parent) {
        unread.push(tree.change(path));
      }
      CHECK(unread.size() <= paths.size());
      while (!unread.empty() && tree.random() % 3 == 0) fold(known, unread.pop());
    }
    while (!unread.empty()) fold(known, unread.pop());
    for (const std::string& path : paths) CHECK(known[path] == tree.nodes[path]);
  }
}

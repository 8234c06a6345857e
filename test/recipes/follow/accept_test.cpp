// What a reply says beside what was known before, as tables.
#include "accept.hpp"

#include "support/catch.hpp"

#include <ostream>

using namespace zklock;

namespace zklock {

std::ostream& operator<<(std::ostream& out, const Accepted& accepted) {
  return out << "change " << static_cast<int>(accepted.change) << ", " << accepted.skipped << " skipped"
             << (accepted.went_back ? ", went back" : "");
}

}  // namespace zklock

namespace {

std::optional<Stat> node(std::int64_t czxid, std::int64_t mzxid, std::int32_t version) {
  Stat stat;
  stat.czxid = czxid;
  stat.mzxid = mzxid;
  stat.version = version;
  return stat;
}

std::optional<Listing> list(std::vector<std::string> names, std::int64_t czxid, std::int64_t pzxid,
                            std::int32_t cversion) {
  Listing listing{std::move(names), {}};
  listing.stat.czxid = czxid;
  listing.stat.pzxid = pzxid;
  listing.stat.cversion = cversion;
  return listing;
}

}  // namespace

TEST_CASE("data are compared by czxid and mzxid, and versions say how many were missed") {
  struct Row {
    std::optional<Stat> before, now;
    Accepted accepted;
  };
  const Row rows[] = {
      {{}, {}, {}},
      {{}, node(5, 5, 0), {Change::created}},
      {{}, node(5, 9, 3), {Change::created, 3}},
      {node(5, 9, 3), {}, {Change::gone}},
      {node(5, 9, 3), node(5, 9, 3), {}},
      {node(5, 9, 3), node(5, 10, 4), {Change::changed}},
      {node(5, 9, 3), node(5, 20, 14), {Change::changed, 10}},
      {node(5, 9, 3), node(12, 12, 0), {Change::new_incarnation}},
      {node(5, 9, 3), node(12, 15, 3), {Change::new_incarnation, 3}},  // the same version
      {node(5, 5, 0), node(7, 7, 0), {Change::new_incarnation}},
      {node(5, 9, 3), node(5, 8, 2), {Change::changed, 0, true}},
      {node(5, 9, 3), node(2, 2, 0), {Change::new_incarnation, 0, true}},
      {node(5, 9, INT32_MAX), node(5, 12, INT32_MIN), {Change::changed}},  // wrapped
      {node(0, 0, 0), node(0, 0, 0), {}},                                  // the root
  };
  for (const Row& row : rows) {
    CAPTURE(&row - rows);
    CHECK(accept(row.before, row.now) == row.accepted);
  }
}

TEST_CASE("lists are compared by name, and cversion says how many children nobody saw") {
  struct Row {
    std::optional<Listing> before, now;
    ListChange change;
  };
  const Row rows[] = {
      {{}, {}, {}},
      {{}, list({"a", "b"}, 1, 3, 2), {.added = {"a", "b"}, .node = {Change::created}}},
      {{}, list({"b"}, 1, 4, 3), {.added = {"b"}, .unseen = 1, .node = {Change::created}}},
      {list({"a"}, 1, 2, 1), {}, {.removed = {"a"}, .node = {Change::gone}}},
      {list({"a"}, 1, 2, 1), list({"a"}, 1, 2, 1), {}},
      {list({"a"}, 1, 2, 1), list({"a", "b"}, 1, 3, 2), {.added = {"b"}}},
      {list({"a", "b"}, 1, 3, 2), list({"b", "c"}, 1, 5, 4), {.added = {"c"}, .removed = {"a"}}},
      {list({"a"}, 1, 2, 1), list({"a"}, 1, 4, 3), {.unseen = 1}},  // deleted and created, or another came and went
      {list({"a"}, 1, 2, 1), list({"b"}, 1, 9, 7), {.added = {"b"}, .removed = {"a"}, .unseen = 2}},
      {list({"a"}, 1, 2, 1),
       list({"a", "b"}, 8, 10, 2),
       {.added = {"a", "b"}, .removed = {"a"}, .node = {Change::new_incarnation}}},
      {list({"a"}, 7, 8, 1),
       list({"a"}, 2, 3, 1),
       {.added = {"a"}, .removed = {"a"}, .node = {Change::new_incarnation, 0, true}}},
      {list({"a"}, 1, 9, 1), list({"a"}, 1, 2, 1), {.node = {Change::same, 0, true}}},
      {list({}, 1, 2, INT32_MAX), list({"a"}, 1, 3, INT32_MIN), {.added = {"a"}}},
  };
  for (const Row& row : rows) {
    CAPTURE(&row - rows);
    CHECK(accept(row.before, row.now) == row.change);
  }
}

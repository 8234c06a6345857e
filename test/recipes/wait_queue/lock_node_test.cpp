// What the names of the nodes below a lock's path mean.
#include "queue_kind.hpp"
#include "support/catch.hpp"

#include <zklock/recipes/locks/lock_node.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

using namespace zklock;

namespace {

const std::string uuid = "_c_5f0c1d2e-3a4b-4c5d-8e6f-708192a3b4c5-";

}  // namespace

TEST_CASE("the name of a lock's node tells its kind and its number, other names tell nothing") {
  struct Row {
    std::string name;
    std::optional<LockNode> node;
    std::optional<LockKind> marker;
  };
  const Row rows[] = {
      {uuid + "lock-0000000042", LockNode{LockKind::mutex, 42}, LockKind::mutex},
      {uuid + "__READ__0000000001", LockNode{LockKind::read, 1}, LockKind::read},
      {uuid + "__WRIT__-000000001", LockNode{LockKind::write, -1}, LockKind::write},
      {uuid + "lease-0000000005", LockNode{LockKind::permit, 5}, LockKind::permit},
      {"lock-2147483647", LockNode{LockKind::mutex, INT32_MAX}, LockKind::mutex},
      {"__READ__0000000003lock-0000000004", LockNode{LockKind::mutex, 4}, LockKind::mutex},
      {"lock-0000000004__READ__0000000003", LockNode{LockKind::read, 3}, LockKind::read},
      {uuid + "lock-7", std::nullopt, LockKind::mutex},
      {uuid + "__WRIT__", std::nullopt, LockKind::write},
      {"__READ__lock-x", std::nullopt, LockKind::mutex},
      {"0123456789abcdef__lock__0000000001", std::nullopt, std::nullopt},
      {"0000000001", std::nullopt, std::nullopt},
      {"", std::nullopt, std::nullopt},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(parse_lock_node(row.name) == row.node);
    CHECK(find_lock_marker(row.name) == row.marker);
  }
}

TEST_CASE("a node blocks the nodes of its lock behind it, but a reader blocks no reader and no node beside it") {
  constexpr auto mutex = LockKind::mutex;
  constexpr auto read = LockKind::read;
  constexpr auto write = LockKind::write;
  CHECK(blocks({mutex, 1}, {mutex, 2}));
  CHECK_FALSE(blocks({mutex, 2}, {mutex, 1}));
  CHECK_FALSE(blocks({mutex, 1}, {mutex, 1}));
  CHECK(blocks({read, 1}, {write, 2}));
  CHECK(blocks({write, 1}, {write, 2}));
  CHECK(blocks({write, 1}, {read, 2}));
  CHECK_FALSE(blocks({read, 1}, {read, 2}));
  CHECK_FALSE(blocks({write, 1}, {read, 1}));
  CHECK_FALSE(blocks({read, 1}, {write, 1}));
  CHECK_FALSE(blocks({mutex, 1}, {write, 2}));
  CHECK_FALSE(blocks({read, 1}, {mutex, 2}));
  CHECK_FALSE(blocks({LockKind::permit, 1}, {LockKind::permit, 2}));
  CHECK(blocks({LockKind::latch, 1}, {LockKind::latch, 2}));
}

TEST_CASE("nodes of one queue exclude each other, but for readers, and for permits") {
  constexpr std::array kinds{LockKind::mutex, LockKind::read, LockKind::write, LockKind::permit, LockKind::latch};
  constexpr const char* table[]{
      "x....",  // mutex
      "..x..",  // read
      ".xx..",  // write
      ".....",  // permit
      "....x",  // latch
  };
  for (std::size_t one = 0; one < kinds.size(); ++one)
    for (std::size_t other = 0; other < kinds.size(); ++other) {
      CAPTURE(to_string(kinds[one]), to_string(kinds[other]));
      CHECK(exclude_each_other(kinds[one], kinds[other]) == (table[one][other] == 'x'));
    }
}

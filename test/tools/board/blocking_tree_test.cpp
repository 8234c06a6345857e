// Which client blocks which.
#include "board/blocking_tree.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::tools;

namespace {

/// "x:ab" is the lock x, which a holds and b waits for; capitals are readers.
WaitQueue queue(const std::string& text) {
  WaitQueue result;
  for (const char client : text.substr(2)) {
    const bool reads = client >= 'A' && client <= 'Z';
    LockParticipant one;
    one.kind = reads ? LockKind::read : LockKind::write;
    one.sequence = static_cast<std::int32_t>(result.size()) + 1;
    one.client_id = std::string(1, static_cast<char>(reads ? client - 'A' + 'a' : client));
    one.session_id = one.client_id[0];
    one.fencing_token = 1;
    one.node_path = "/" + text.substr(0, 1) + "/" + std::to_string(one.sequence);
    result.push_back(one);
  }
  return result;
}

/// "a2 .b1 ..c0": each client with the number of waits below it, indented; "!" if it is further up, too.
std::string tree(const std::vector<std::string>& locks, std::size_t limit = 100) {
  std::vector<WaitQueue> queues;
  for (const std::string& lock : locks) queues.push_back(queue(lock));
  std::string text;
  for (const Blocker& one : blocking_tree(queues, limit))
    text += (text.empty() ? "" : " ") + std::string(one.depth, '.') + one.one.client_id + std::to_string(one.blocked) +
            (one.seen_above ? "!" : "");
  return text;
}

}  // namespace

TEST_CASE("the blocking tree shows each waiter below the client that holds what it waits for") {
  struct Case {
    std::vector<std::string> locks;
    std::string expected;
  };
  const auto [locks, expected] = GENERATE(values<Case>({
      {{"x:a"}, ""},
      {{"x:ab"}, "a1 .b0"},
      {{"x:abc"}, "a2 .b0 .c0"},
      {{"x:ab", "y:bc"}, "a2 .b1 ..c0"},
      {{"x:ab", "y:cde"}, "c2 .d0 .e0 a1 .b0"},
      {{"w:xb", "y:ab", "z:bc"}, "a2 .b1 ..c0 x1 .b0"},
      {{"x:AB"}, ""},
      {{"x:ABc"}, "a1 .c0"},
      {{"x:aa"}, ""},
      {{"x:ab", "y:ba"}, "a2 .b1 ..a0!"},
      {{"x:ab", "y:ba", "z:bc"}, "b3 .a1 ..b0! .c0"},
  }));
  std::string all;
  for (const std::string& lock : locks) all += lock + " ";
  INFO(all);
  CHECK(tree(locks) == expected);
}

TEST_CASE("the blocking tree ends at its limit, also with circles that share clients") {
  CHECK(tree({"x:abcdef"}, 3) == "a5 .b0 .c0");
  std::vector<WaitQueue> queues;
  for (char one = 'a'; one < 'z'; ++one)
    for (char other = 'a'; other < 'z'; ++other)
      if (one != other) queues.push_back(queue(std::string{"x:"} + one + other));
  CHECK(blocking_tree(queues, 200).size() == 200);
}

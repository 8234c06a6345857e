// What doctor would find on a board.
#include "board/board_findings.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace zklock;
using namespace zklock::tools;
using namespace std::chrono_literals;

namespace {

const std::chrono::system_clock::time_point start{1'800'000'000s};

/// The lock "/x" with a node for each session, in the order of the queue.
LockDirectory lock(const std::string& path, const std::vector<std::int64_t>& sessions) {
  LockDirectory directory{path, {}, {}, {}};
  directory.queues.emplace_back();
  for (const std::int64_t session : sessions) {
    LockParticipant one;
    one.sequence = static_cast<std::int32_t>(directory.queues[0].size()) + 1;
    one.node_path = path + "/lock-000000000" + std::to_string(one.sequence) + "-of-" + std::to_string(session);
    one.client_id = "c";
    one.session_id = session;
    one.fencing_token = 1;
    one.since = start;
    directory.queues[0].push_back(one);
  }
  return directory;
}

std::string kinds(const Survey& before, const Survey& now, std::chrono::seconds age) {
  std::string text;
  for (const Finding& one : find_all(before, now, {2s, 60s, start + age})) text += one.kind + " ";
  return text;
}

}  // namespace

TEST_CASE("a queue that does not move is found, once its first waiter has waited for long") {
  const Survey survey{{lock("/x", {1, 2})}, {}, {}};
  const Survey moved{{lock("/x", {2})}, {}, {}};
  CHECK(kinds(survey, survey, 61s) == "stuck ");
  CHECK(kinds(survey, survey, 59s).empty());
  CHECK(kinds({}, survey, 61s).empty());
  CHECK(kinds(survey, moved, 61s).empty());
}

TEST_CASE("a deadlock is found if all of it was there both times") {
  const Survey survey{{lock("/x", {1, 2}), lock("/y", {2, 1})}, {}, {}};
  const Survey half{{lock("/x", {1, 2})}, {}, {}};
  CHECK(kinds(survey, survey, 1s) == "deadlock ");
  CHECK(kinds(half, survey, 1s).empty());
}

TEST_CASE("problems come before notes") {
  Survey survey{{lock("/x", {1, 2})}, {"/secret"}, {}};
  survey.directories[0].foreign.push_back("notes");
  CHECK(kinds(survey, survey, 61s) == "stuck foreign-child unreadable ");
}

// What `zklock doctor` says of a wait queue that does not move.
#include "findings.hpp"

#include "doctor.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::tools;
using namespace std::chrono_literals;

namespace {

constexpr auto reader = LockKind::read;
constexpr auto writer = LockKind::write;
constexpr auto mutex = LockKind::mutex;

const std::chrono::system_clock::time_point start{};

/// Nodes "/lock/<number>", numbered from 1 on.
WaitQueue queue(const std::vector<LockKind>& kinds) {
  WaitQueue result;
  for (const LockKind kind : kinds) {
    LockParticipant one;
    one.kind = kind;
    one.session_id = 0xa;
    one.sequence = static_cast<std::int32_t>(result.size()) + 1;
    one.node_path = "/lock/" + std::to_string(one.sequence);
    one.since = start;
    result.push_back(one);
  }
  return result;
}

std::vector<LockKind> with_readers(std::vector<LockKind> kinds, std::size_t readers) {
  kinds.insert(kinds.end(), readers, reader);
  return kinds;
}

}  // namespace

TEST_CASE("doctor counts every waiter behind the holders of a wait queue that does not move") {
  struct Case {
    const char* title;
    std::vector<LockKind> kinds;
    std::string says;  ///< empty: no finding
  };
  const std::vector<Case> cases{
      {"a mutex", {mutex, mutex, mutex}, "2 waiters behind it"},
      {"a mutex without a waiter", {mutex}, ""},
      {"readers alone", with_readers({}, 3'000), ""},
      {"a reader and a writer", {reader, writer}, "1 waiter behind it"},
      {"a reader, a writer and 3,000 readers", with_readers({reader, writer}, 3'000), "3001 waiters behind it"},
      {"a writer and 3,000 readers", with_readers({writer}, 3'000), "3000 waiters behind it"},
      {"two readers, a writer, a reader and a writer", {reader, reader, writer, reader, writer}, "3 waiters behind it"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.title);
    const WaitQueue waiting = queue(each.kinds);
    const Survey before{.directories = {{"/lock", {waiting}, {}, {}}}, .unreadable = {}, .cut_off = {}};
    const Watched watched{.wait = 1s, .stuck_after = 10s, .now = start + 20s};
    const auto found = find_stuck(before, {waiting}, watched);
    REQUIRE(found.size() == (each.says.empty() ? 0 : 1));
    if (found.empty()) continue;
    CHECK(found.front().what.starts_with(each.says + ", the next for "));
    CHECK(found.front().node == "/lock/1");
  }
}

TEST_CASE("locks of any two kinds on one path are a problem, and nothing that a recipe makes is to be deleted") {
  struct Case {
    const char* title;
    LockDirectory directory;
    bool is_mixed;
  };
  const std::vector<Case> cases{
      {"a mutex", {"/lock", {queue({mutex})}, {}, {}}, false},
      {"a semaphore", {"/lock/leases", {queue({LockKind::permit, LockKind::permit})}, {}, {}}, false},
      {"a mutex and a write lock", {"/lock", {queue({mutex}), queue({writer})}, {}, {}}, true},
      {"a mutex and a semaphore", {"/lock", {queue({mutex})}, {}, {"leases", "locks"}}, true},
      {"a read lock and a semaphore", {"/lock", {queue({reader})}, {}, {"leases", "locks"}}, true},
      {"a latch and a semaphore", {"/lock", {queue({LockKind::latch})}, {}, {"leases", "locks"}}, true},
      {"a mutex among permits", {"/lock", {queue({mutex}), queue({LockKind::permit})}, {}, {}}, true},
      {"a mutex, and locks below it", {"/lock", {queue({mutex})}, {}, {"locks"}}, false},
      {"a mutex and a foreign child", {"/lock", {queue({mutex})}, {}, {"settings"}}, false},
  };
  for (const Case& each : cases) {
    CAPTURE(each.title);
    const auto found = find_oddities(each.directory);
    const auto is_mixture = [](const Finding& finding) {
      return finding.kind == "mixed-locks" && finding.severity == Severity::problem;
    };
    CHECK(std::ranges::count_if(found, is_mixture) == (each.is_mixed ? 1 : 0));
    for (const Finding& finding : found) {
      INFO(finding.kind << ": " << finding.remedy);
      CHECK((finding.remedy.find("delete it") == std::string::npos));
      CHECK(finding.node.find("leases") == std::string::npos);
    }
  }
}

TEST_CASE("a command that doctor prints names the node, and nothing in a name is run by the shell") {
  struct Case {
    std::string path;
    std::string word;  ///< in the command
  };
  const std::vector<Case> cases{
      {"/locks/nightly-0000000001", "/locks/nightly-0000000001"},
      {"/evil/x$(touch pwned)", "'/evil/x$(touch pwned)'"},
      {"/evil/x`touch pwned`;touch pwned", "'/evil/x`touch pwned`;touch pwned'"},
      {"/it's $(touch pwned)", R"($'/it\x27s $(touch pwned)')"},
      {"/a\\' $(touch pwned)", R"($'/a\x5C\x27 $(touch pwned)')"},
      {"/two\nlines", R"($'/two\x0Alines')"},
      {"/gpj\xE2\x80\xAEtxt", R"($'/gpj\xE2\x80\xAEtxt')"},
      {"/\xC3\xA9t\xC3\xA9", "'/\xC3\xA9t\xC3\xA9'"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.path);
    WaitQueue waiting = queue({mutex, mutex});
    waiting.front().node_path = each.path;
    const Survey before{.directories = {{"/", {waiting}, {}, {}}}, .unreadable = {}, .cut_off = {}};
    Diagnosis diagnosis;
    diagnosis.findings = find_stuck(before, {waiting}, {.wait = 1s, .stuck_after = 10s, .now = start + 20s});
    REQUIRE(diagnosis.findings.size() == 1);
    CHECK(diagnosis.findings[0].remedy.ends_with(": zklock revoke " + each.word));
    CHECK(to_text(diagnosis).find(": zklock revoke " + each.word + "\n") != std::string::npos);
  }
}

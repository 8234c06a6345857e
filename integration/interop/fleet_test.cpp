// Processes in three languages that work on one path, and each of which is killed once.
#include "crowd.hpp"
#include "peer.hpp"
#include "support/catch.hpp"
#include "support/operations.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

/// A place in the fleet, whichever process has it.
struct Member {
  std::string batch;                            ///< the order that it obeys again and again
  std::string last;                             ///< what it does before it is killed; empty: the batch that it is at
  std::function<std::unique_ptr<Peer>()> hire;  ///< starts a process
  std::unique_ptr<Peer> peer = hire();
  bool has_worked = false;

  void begin() const { peer->begin(batch); }
  void finish() const {
    REQUIRE(eventually([&] { return peer->has_answered(); }, 60s));
    REQUIRE(peer->outcome() == "yes");
  }
};

struct Fleet {
  static constexpr int places = 3;  ///< of each library
  testing::TestServer server;
  Client client = make_client(server);
  Session session = connected_session(client);
  const std::string path = "/fleet/orders";
  const std::filesystem::path log = server.directory() / "log";
  std::vector<Member> members{};

  /// A directory that is reaped numbers its nodes from the start again, and Kazoo does not make it again.
  Fleet() { REQUIRE_FALSE(create(client, path, "", CreateOptions{CreateMode::persistent}.creating_parents())); }

  /// Turns of that kind. The last process of a library is killed while it has its turn.
  template <class Library>
  void take_turns(const std::string& kind, int batch) {
    const std::string where = kind + " " + path + " ";
    for (int i = 0; i < places; ++i)
      members.push_back({.batch = "work " + where + "1 " + std::to_string(batch) + " " + log.string(),
                         .last = i + 1 == places ? "hold " + where + log.string() : "",
                         .hire = [this] { return std::make_unique<Library>(server, 4s); }});
  }

  void kill_and_replace(Member& victim) const {
    if (!victim.last.empty()) {
      victim.finish();
      victim.peer->begin(victim.last);
      victim.finish();
    }
    const pid_t process = victim.peer->pid();
    victim.peer->kill();
    std::ofstream{log, std::ios::app} << "killed " + std::to_string(process) + "\n";
    victim.peer = victim.hire();
    victim.begin();
  }

  /// Until that many batches are done. Each process that the fleet begins with is killed meanwhile, when it has done
  /// one.
  void work_under_kills(std::size_t batches) {
    for (const Member& each : members) each.begin();
    const auto has_answered = [](const Member& each) { return each.peer->has_answered(); };
    auto victim = members.begin();
    for (std::size_t done = 0; done < batches || victim != members.end();) {
      REQUIRE(eventually([&] { return std::ranges::any_of(members, has_answered); }, 60s));
      for (Member& each : members) {
        if (!has_answered(each)) continue;
        each.finish();
        each.has_worked = true;
        ++done;
        each.begin();
      }
      const auto killed = static_cast<std::size_t>(victim - members.begin());
      if (killed < members.size() && victim->has_worked && done * members.size() >= killed * batches)
        kill_and_replace(*victim++);
    }
    for (const Member& each : members) each.finish();
  }

  void check_turns() const {
    const Grants grants = read_grants(log);
    CHECK(grants.overlaps == 0);
    CHECK(grants.overtakings == 0);
    CHECK(grants.killed_inside >= static_cast<int>(members.size()) / places);
    CHECK(grants.processes.size() == 2 * members.size());  // the killed, and those in their places
    CHECK(eventually([&] { return children_of(session, path).empty(); }));
  }
};

}  // namespace

TEST_CASE_METHOD(Fleet,
                 "three processes each of zklock, Curator and Kazoo, each killed once: no overlap, first come, first "
                 "served") {
  take_turns<Zklock>("mutex", 100);
  take_turns<Curator>("mutex", 100);
  take_turns<Kazoo>("curator-lock", 100);
  work_under_kills(200);
  CHECK(read_grants(log).number >= 20'000);
  check_turns();
}

TEST_CASE_METHOD(Fleet, "three latches of zklock and three of Curator, each killed once: never two leaders") {
  take_turns<Zklock>("latch", 10);
  take_turns<Curator>("latch", 10);
  work_under_kills(60);
  check_turns();
}

TEST_CASE_METHOD(Fleet, "three selectors of zklock and three of Curator, each killed once: never two leaders") {
  take_turns<Zklock>("selector", 10);
  take_turns<Curator>("selector", 10);
  work_under_kills(60);
  check_turns();
}

TEST_CASE_METHOD(Fleet, "three selectors of zklock and three Elections of Kazoo, each killed once: never two leaders") {
  take_turns<Zklock>("election", 10);
  take_turns<Kazoo>("election", 10);
  work_under_kills(60);
  check_turns();
}

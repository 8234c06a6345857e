// Processes in three languages that share one lock, and some of which are killed.
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
  std::string kind;
  std::function<std::unique_ptr<Peer>()> hire;
  std::unique_ptr<Peer> peer = hire();
  bool is_at_work = false;
};

}  // namespace

TEST_CASE("three processes each of zklock, Curator and Kazoo, each killed once: no overlap, first come, first served") {
  constexpr int goal = 20'000;
  constexpr int batch = 100;
  constexpr int between_kills = goal / 10;
  testing::TestServer server;
  const Client client = make_client(server);
  const Session session = connected_session(client);
  const std::string path = "/locks/orders";
  // Kazoo does not make a deleted directory again.
  REQUIRE_FALSE(create(client, path, "", CreateOptions{CreateMode::persistent}.creating_parents()));
  const auto log = server.directory() / "grants";
  const auto timeout = 4s;

  std::vector<Member> fleet;
  for (int i = 0; i < 3; ++i) {
    fleet.push_back({"mutex", [&] { return std::make_unique<Zklock>(server, timeout); }});
    fleet.push_back({"mutex", [&] { return std::make_unique<Curator>(server, timeout); }});
    fleet.push_back({"curator-lock", [&] { return std::make_unique<Kazoo>(server, timeout); }});
  }
  const std::string what = " " + path + " 1 " + std::to_string(batch) + " " + log.string();
  std::size_t killed = 0;
  int granted = 0;  // without those of the batches that a kill has ended
  const auto answered = [&] {
    return std::ranges::any_of(fleet, [](const Member& each) { return !each.is_at_work || each.peer->has_answered(); });
  };
  while (granted < goal) {
    REQUIRE(eventually(answered, 60s));
    for (Member& each : fleet) {
      if (each.is_at_work && !each.peer->has_answered()) continue;
      if (each.is_at_work) {
        REQUIRE(each.peer->outcome() == "0");  // failures
        granted += batch;
      }
      each.peer->begin("work " + each.kind + what);
      each.is_at_work = true;
    }
    if (killed == fleet.size() || granted < (static_cast<int>(killed) + 1) * between_kills) continue;
    Member& victim = fleet[killed++];
    const pid_t process = victim.peer->pid();
    victim.peer->kill();
    std::ofstream{log, std::ios::app} << "killed " + std::to_string(process) + "\n" << std::flush;
    victim.peer = victim.hire();
    victim.is_at_work = false;
  }
  for (Member& each : fleet) {
    REQUIRE(eventually([&] { return !each.is_at_work || each.peer->has_answered(); }, 60s));
    if (each.is_at_work) CHECK(each.peer->outcome() == "0");
  }
  const Grants grants = read_grants(log);
  CHECK(killed == fleet.size());
  CHECK(grants.number >= goal);
  CHECK(grants.overlaps == 0);
  CHECK(grants.overtakings == 0);
  CHECK(eventually([&] { return children_of(session, path).empty(); }));
}

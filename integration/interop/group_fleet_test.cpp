// Processes of zklock and of Curator in one group, each of which is killed once.
#include "crowd.hpp"
#include "peer.hpp"
#include "support/catch.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>

using namespace zklock;
using namespace zklock::test;

namespace {

struct GroupFleet {
  static constexpr std::chrono::seconds timeout = 6s;
  testing::TestServer server;
  Client client = make_client(server, 10s);  // its session is to last while the processes compute
  const std::string path = "/group";
  const Group group{client, path};
  std::map<std::string, std::unique_ptr<Peer>> living{};  ///< by their ids

  /// With the process's number as payload.
  void join(const std::string& id, std::unique_ptr<Peer> process) {
    REQUIRE((*process)("join " + path + " " + id + " " + std::to_string(process->pid())) == "yes");
    living[id] = std::move(process);
  }
  [[nodiscard]] std::string all_living() const {
    std::string all;
    for (const auto& [id, process] : living)
      all += (all.empty() ? "" : ",") + id + "=" + std::to_string(process->pid());
    return all;
  }
  /// What a client outside the group sees, and what each living member does.
  [[nodiscard]] std::set<std::string> views() const {
    std::set<std::string> seen{shown(group)};
    for (const auto& [id, process] : living) seen.insert((*process)("members " + path));
    return seen;
  }
  [[nodiscard]] bool all_see_the_living() const {
    return eventually([&] { return views() == std::set{all_living()}; });
  }
};

}  // namespace

TEST_CASE_METHOD(GroupFleet, "two members of zklock and two of Curator, each killed once: all see the living ones") {
  const auto zklocks = [&] { return std::make_unique<Zklock>(server, timeout); };
  const auto curators = [&] { return std::make_unique<CuratorNodes>(server, timeout); };
  const std::map<std::string, std::function<std::unique_ptr<Peer>()>> members{
      {"a", zklocks}, {"b", curators}, {"c", zklocks}, {"d", curators}};
  for (const auto& [id, start] : members) join(id, start());
  REQUIRE(all_see_the_living());
  for (const auto& [id, start] : members) {
    const std::string before = all_living();
    living.at(id)->kill();
    living.erase(id);
    const std::string after = all_living();
    std::set<std::string> seen;  // from the kill until the killed one has left every view
    REQUIRE(eventually([&] {
      const auto now = views();
      seen.insert(now.begin(), now.end());
      return now == std::set{after};
    }));
    CHECK(seen == std::set{before, after});
    join(id, start());
    REQUIRE(all_see_the_living());
  }
}

// Groups under every fault at every step.
#include "kept_node_scenario.hpp"

#include <zklock/recipes/nodes/group_member.hpp>

#include <set>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string path = "/services/shop";

/// By their ids, and which node of that id it is.
using Ids = std::set<std::pair<std::string, std::int64_t>>;

Ids ids_of(const std::vector<FakeNode>& nodes) {
  Ids ids;
  for (const FakeNode& node : nodes)
    if (node.path.starts_with(path + "/")) ids.emplace(node.path.substr(path.size() + 1), node.stat.czxid);
  return ids;
}

/// The sets of members that there were, in their order: as each transaction has left them, since many follow one another
/// before the invariants are looked at.
struct Past {
  std::vector<Ids> sets{Ids{}};
  void note(const std::vector<FakeNode>& nodes) {
    Ids now = ids_of(nodes);
    if (sets.back() != now) sets.push_back(std::move(now));
  }
};

/// What is shown is a set that there was, and not one from before the last that was shown.
class Reader {
 public:
  Reader(Simulation& simulation, std::string name, std::shared_ptr<Past> past)
      : past_{std::move(past)}, group_{simulation.client(std::move(name), test::patient), path} {}

  [[nodiscard]] const Group& group() const { return group_; }
  [[nodiscard]] bool is_right() {
    Ids shown;
    for (const auto& [id, member] : group_.members().members) shown.emplace(id, member.czxid);
    while (at_ < past_->sets.size() && past_->sets[at_] != shown) ++at_;
    return at_ < past_->sets.size();
  }

 private:
  std::shared_ptr<Past> past_;
  Group group_;
  std::size_t at_ = 0;
};

asio::awaitable<void> come_and_go(Simulation& simulation, std::string name, std::chrono::milliseconds later) {
  co_await test::pause(later);
  const GroupMember member{simulation.client(name, test::patient), path, name, "payload of " + name};
  auto waiting = simulation.operation<>(name, {.name = "wait_present"},
                                        [&](auto token) { member.async_wait_present(60s, std::move(token)); });
  co_await std::move(waiting);
  co_await test::pause(300ms);
  if (const auto own = member.own(); own && own->payload != "payload of " + name)
    simulation.fail(name + " has another member's payload");
  auto closing =
      simulation.operation<>(name, {.name = "close"}, [&](auto token) { member.async_close(std::move(token)); });
  co_await std::move(closing);
}

asio::awaitable<void> look_on(Simulation& simulation, std::shared_ptr<Past> past) {
  auto reader = std::make_shared<Reader>(simulation, "r", past);
  simulation.invariant("members that are shown were there at one moment", [weak = std::weak_ptr{reader}] {
    const auto alive = weak.lock();
    return !alive || alive->is_right();
  });
  const Clock::time_point began = Clock::now();
  const Group& group = reader->group();
  auto waiting = simulation.operation<>("r", {.name = "wait_for"},
                                        [&](auto token) { group.async_wait_for(1, 60s, std::move(token)); });
  const auto [error] = co_await std::move(waiting);
  if (error == Error::timed_out && simulation.woke() < began && !ids_of(simulation.ensemble().nodes()).empty())
    simulation.fail("a member is not seen for a minute");
  co_await test::pause(2s);
  const Clock::time_point later = Clock::now();
  auto settling = simulation.operation<>("r", {.name = "wait_for"},
                                         [&](auto token) { group.async_wait_for(0, 60s, std::move(token)); });
  const auto [unsettled] = co_await std::move(settling);
  if (unsettled == Error::timed_out && simulation.woke() < later)
    simulation.fail("the members are not live for a minute");
}

void members_come_and_go(Simulation& simulation) {
  const auto past = std::make_shared<Past>();
  simulation.ensemble().on_transaction([past](const std::vector<FakeNode>& nodes) { past->note(nodes); });
  simulation.actor([&simulation, past] { return look_on(simulation, past); });
  for (const auto& [name, later] : {std::pair{"a", 0ms}, std::pair{"b", 200ms}})
    simulation.actor(
        [&simulation, name = std::string{name}, later = later] { return come_and_go(simulation, name, later); });
}

}  // namespace

TEST_CASE("the members of a group are shown as they all were at one moment, whatever fails") {
  test::check_exploration(members_come_and_go, 100);
}

TEST_CASE("a group whose members an operator deletes is shown as it is") {
  test::check_exploration(members_come_and_go, 100, {.operator_deletes = path});
}

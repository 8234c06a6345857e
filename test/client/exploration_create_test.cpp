// Client::async_create under every fault at every step: every shape of path, every mode, beside other clients' nodes.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/path.hpp>

#include <algorithm>
#include <array>
#include <string_view>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

/// The arguments of a create, and the handle that it is called on.
struct Wish {
  std::string path;
  CreateOptions options;
  std::string chroot{};
  std::string name_space{};

  [[nodiscard]] bool is_ephemeral() const { return zklock::is_ephemeral(options.node().mode); }
  /// The scenario waits for the end of nodes that do not stay for ever.
  [[nodiscard]] bool stays() const { return !is_ephemeral() && !has_ttl(options.node().mode); }
  /// The path as the server has it.
  [[nodiscard]] std::string root() const {
    return chroot + (name_space.empty() || name_space.starts_with('/') ? "" : "/") + name_space;
  }
  [[nodiscard]] std::string directory() const { return root() + path.substr(0, path.rfind('/')); }
};

/// The outcome of the create, for the checks at the end of the scenario.
struct Created {
  bool known = false;
  error_code error{};
  std::string path{};
};

std::vector<FakeNode> nodes_with(Simulation& simulation, std::string_view data) {
  auto nodes = simulation.ensemble().nodes();
  std::erase_if(nodes, [&](const FakeNode& node) { return node.data != data; });
  return nodes;
}

std::vector<FakeNode> made_by_us(Simulation& simulation) { return nodes_with(simulation, "mine"); }

/// A closed client may leave what it was about to clean up.
bool is_open(Simulation& simulation) { return simulation.client("a").state() != ConnectionState::closed; }

/// The first call makes the client.
Client& client_for(Simulation& simulation, const Wish& wish) {
  return simulation.client(
      "a", {.connect_string = wish.chroot, .session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}});
}

asio::awaitable<void> create(Simulation& simulation, const Wish& wish, Created& created) {
  const ClientHandle client = client_for(simulation, wish).using_namespace(wish.name_space);
  auto creating = simulation.operation<CreateResult>("a", {.name = "create", .within = 60s}, [&](auto token) {
    client.async_create(wish.path, "mine", wish.options, std::move(token));
  });
  auto [error, result] = co_await std::move(creating);
  created = {true, error, wish.root() + result.path};
  if (wish.stays()) co_return;
  if (error) {  // no client knows the node: only the end of its session deletes it
    if (!wish.options.is_protected()) simulation.client("a").close();
    co_return;
  }
  // The node must not remain, so it is checked now: it exists, unless its session has ended since.
  const auto nodes = made_by_us(simulation);
  if (nodes.size() != 1 || nodes[0].path != created.path)
    if (simulation.ensemble().is_alive(result.stat.ephemeral_owner)) simulation.fail("the node is not there");
  auto removing =
      simulation.operation<>("a", {.name = "remove", .within = 60s, .can_be_cancelled = false},
                             [&, &node = result.path](auto token) { client.async_remove(node, std::move(token)); });
  co_await std::move(removing);
}

/// Success: that node and no other. Failure: no node, unless the client was closed before it could clean up.
bool all_or_nothing(Simulation& simulation, const Wish& wish, const Created& created) {
  const auto nodes = made_by_us(simulation);
  if (!created.known) return false;
  if (!wish.stays()) return nodes.empty();
  if (created.error) return nodes.empty() || !is_open(simulation);
  return nodes.size() == 1 && nodes[0].path == created.path;
}

/// Success: that node. A definite failure: no node.
bool no_lie(Simulation& simulation, const Wish& wish, const Created& created) {
  const auto nodes = made_by_us(simulation);
  if (!wish.stays()) return nodes.empty();
  if (!created.error) return nodes.size() == 1 && nodes[0].path == created.path;
  return nodes.empty() || outcome_of(created.error) == Outcome::ambiguous;
}

void explore_creation(Simulation& simulation, const Wish& wish) {
  const auto created = std::make_shared<Created>();
  simulation.actor([&simulation, wish, created] { return create(simulation, wish, *created); });
  simulation.invariant("never two nodes", [&simulation] { return made_by_us(simulation).size() <= 1; });
  simulation.at_the_end("what was said is what is there", [&simulation, wish, created] {
    return wish.options.is_protected() ? all_or_nothing(simulation, wish, *created)
                                       : no_lie(simulation, wish, *created);
  });
}

}  // namespace

TEST_CASE("a protected create makes one node or none, whatever fails") {
  for (const CreateMode mode : {CreateMode::persistent_sequential, CreateMode::ephemeral_sequential}) {
    const Wish wish{"/jobs/n-", CreateOptions{mode}.with_protection().creating_parents()};
    test::check_exploration([&](Simulation& simulation) { explore_creation(simulation, wish); }, 500);
  }
}

TEST_CASE("a plain create never misreports what it has done, whatever fails") {
  for (const CreateMode mode : {CreateMode::persistent, CreateMode::persistent_sequential}) {
    const Wish wish{"/jobs/n-", CreateOptions{mode}.creating_parents()};
    test::check_exploration([&](Simulation& simulation) { explore_creation(simulation, wish); }, 400);
  }
}

// ---- beside nodes of others

namespace {

using enum CreateMode;
constexpr std::array modes{persistent, ephemeral,      persistent_sequential,    ephemeral_sequential,
                           container,  persistent_ttl, persistent_sequential_ttl};
constexpr std::array<std::string_view, 6> shapes{"/n-", "/", "/jobs/n-", "/jobs/", "/jobs/deep/n-", "/jobs/deep/"};
constexpr std::array<std::array<std::string_view, 2>, 4> roots{{{"", ""}, {"", "app"}, {"/zoo", ""}, {"/zoo", "a/b"}}};

/// Names that are a prefix of the client's own node's name, a suffix of it, or unrelated to it.
constexpr std::array<std::string_view, 4> names_of_others{"order-4711", "0000004711", "n-0000004711",
                                                          "_c_00000000-0000-4000-8000-000000000000-n-0000000007"};

CreateOptions in_mode(CreateMode mode) {
  return has_ttl(mode) ? CreateOptions{NodeOptions{mode, 2min}} : CreateOptions{mode};
}

Wish wish_for(std::size_t shape, std::size_t mode, bool with_protection) {
  const auto& [chroot, name_space] = roots[(shape + mode) % roots.size()];
  Wish wish{std::string{shapes[shape]}, in_mode(modes[mode]), std::string{chroot}, std::string{name_space}};
  if (with_protection) wish.options.with_protection();
  return wish;
}

/// Nodes of another client in the directory of the client's own node, and the nodes on the way to it.
Transaction nodes_of_others(const std::string& directory) {
  Transaction transaction;
  for (auto slash = directory.find('/', 1); !directory.empty(); slash = directory.find('/', slash + 1)) {
    transaction.create(directory.substr(0, slash), "");
    if (slash == std::string::npos) break;
  }
  for (const std::string_view name : names_of_others) transaction.create(join_path(directory, name), "theirs");
  return transaction;
}

asio::awaitable<void> create_beside_others(Simulation& simulation, Wish wish, std::shared_ptr<Created> created,
                                           std::shared_ptr<bool> others_are_there) {
  Client& other = simulation.client("other", {.session_timeout = 10s});
  const Transaction transaction = nodes_of_others(wish.directory());
  auto [error, results] = co_await other.async_commit(transaction, asio::as_tuple(asio::deferred));
  created->known = static_cast<bool>(error);
  created->error = error;
  if (error) co_return;
  *others_are_there = true;
  co_await create(simulation, wish, *created);
}

void explore_creation_beside_others(Simulation& simulation, const Wish& wish) {
  const auto created = std::make_shared<Created>();
  const auto others_are_there = std::make_shared<bool>(false);
  client_for(simulation, wish);
  simulation.actor([&simulation, wish, created, others_are_there] {
    return create_beside_others(simulation, wish, created, others_are_there);
  });
  simulation.invariant("never two nodes", [&simulation] { return made_by_us(simulation).size() <= 1; });
  simulation.invariant("others' nodes stay", [&simulation, others_are_there] {
    return !*others_are_there || nodes_with(simulation, "theirs").size() == names_of_others.size();
  });
  simulation.at_the_end("what was said is what is there", [&simulation, wish, created] {
    return wish.options.is_protected() ? all_or_nothing(simulation, wish, *created)
                                       : no_lie(simulation, wish, *created);
  });
}

void check_beside_others(bool with_protection) {
  const FakeEnsembleOptions ensemble{.latency = 1ms, .extended_types = true};
  for (std::size_t shape = 0; shape < shapes.size(); ++shape)
    for (std::size_t mode = 0; mode < modes.size(); ++mode) {
      const Wish wish = wish_for(shape, mode, with_protection);
      INFO(wish.root() << " " << wish.path << " in mode " << static_cast<int>(modes[mode]));
      test::check_exploration([&](Simulation& simulation) { explore_creation_beside_others(simulation, wish); }, 12,
                              {.ensemble = ensemble});
    }
}

}  // namespace

TEST_CASE("a protected create of any path touches no other client's node, whatever fails") {
  check_beside_others(true);
}

TEST_CASE("a plain create of any path touches no other client's node, whatever fails") { check_beside_others(false); }

// A name moves from one ensemble to another, as docs/scaling.md says, with every fault at every step.
#include "support/catch.hpp"
#include "support/exploration.hpp"
#include "support/other_ensemble.hpp"

#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/lock_registry.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::OtherEnsemble;

namespace {

const std::string name = "sku-1";  // "north" has it, and "south" as soon as there is one
const std::string base = "/locks";

/// The locks that a process takes for the name.
enum class Stage { before, both, after };
/// The procedure, and what is left of it without one of its steps.
enum class Procedure { whole, without_both, without_waiting, without_write };
/// The simulation's own ensemble, at which an exploration's faults happen.
enum class Struck { north, south };

/// A lock that is held, as its ensemble knows it.
struct Held {
  const FakeEnsemble* ensemble;
  std::int64_t session = 0;  // 0: it had ended when the client heard of the grant
  std::int64_t token = 0;
};

struct Grant {
  std::string who;
  int number = 0;
  std::vector<Held> locks{};

  /// A client whose session has ended holds nothing, whatever it believes; fencing tokens are for that.
  [[nodiscard]] bool is_true() const {
    return std::ranges::all_of(locks, [](const Held& each) { return each.ensemble->is_alive(each.session); });
  }
};

/// What the lock protects. It keeps the greatest token of each ensemble, and refuses a write with a smaller one.
class Resource {
 public:
  explicit Resource(Simulation& simulation) : simulation_{simulation} {}

  void write(const Grant& grant) {
    for (const Held& each : grant.locks)
      if (each.token < greatest_[each.ensemble]) return;
    for (const Held& each : grant.locks) greatest_[each.ensemble] = each.token;
    if (grant.number < last_) simulation_.fail(grant.who + " writes after a later holder");
    last_ = grant.number;
  }

 private:
  Simulation& simulation_;
  std::map<const FakeEnsemble*, std::int64_t> greatest_;
  int last_ = 0;
};

class World {
 public:
  World(Simulation& of, Procedure of_the_move, Struck which) : simulation{of}, procedure{of_the_move}, struck{which} {}

  [[nodiscard]] const FakeEnsemble& ensemble(Struck which) const {
    return which == struck ? simulation.ensemble() : other.ensemble();
  }
  void granted(Grant& grant) {
    grant.number = ++grants_;
    for (const Grant* each : holders_)
      if (grant.is_true() && each->is_true()) simulation.fail(grant.who + " is granted what " + each->who + " holds");
    holders_.push_back(&grant);
    resource_.write(grant);
  }
  /// The last write is on its way for a while.
  void ended(const Grant& grant) {
    resource_.write(grant);
    simulation.after(3s, [this, grant] { resource_.write(grant); });
    std::erase(holders_, &grant);
  }

  Simulation& simulation;
  const Procedure procedure;
  const Struck struck;
  OtherEnsemble other{simulation};
  int left_before = 2;  // processes that have not ended the first stage
  bool moved = false;   // the new lock is enough
  bool failed = false;  // the operator has given up

 private:
  Resource resource_{simulation};
  std::vector<const Grant*> holders_;
  int grants_ = 0;
};

/// A client of each ensemble, and the registries before and after.
class Process {
 public:
  Process(World& world, const std::string& who)
      : own_{world.simulation.client(who, config())}, other_{world.other.make_client(config())} {
    const bool north_is_own = world.struck == Struck::north;
    const RegistryEnsemble north{.name = "north", .client = north_is_own ? own_ : other_};
    const RegistryEnsemble south{.name = "south", .client = north_is_own ? other_ : own_};
    before_ = std::make_unique<LockRegistry>(std::vector{north}, base);
    after_ = std::make_unique<LockRegistry>(std::vector{north, south}, base);
  }
  [[nodiscard]] const LockRegistry& before() const { return *before_; }
  [[nodiscard]] const LockRegistry& after() const { return *after_; }
  /// As docs/scaling.md shows it.
  [[nodiscard]] InterProcessMultiLock both() const {
    const InterProcessReadWriteLock old_lock = before_->read_write_lock(name);
    const InterProcessReadWriteLock new_lock = after_->read_write_lock(name);
    return InterProcessMultiLock{{old_lock.write_lock(), new_lock.write_lock()}};
  }
  asio::awaitable<void> end() {
    auto closed = other_.async_close(asio::as_tuple(asio::deferred));
    co_await std::move(closed);
  }

 private:
  static ClientConfig config() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

  Client& own_;  // the simulation closes it
  Client other_;
  std::unique_ptr<LockRegistry> before_;
  std::unique_ptr<LockRegistry> after_;
};

Held held(const FakeEnsemble& ensemble, const Lease& lease) {
  for (const FakeNode& node : ensemble.nodes())
    if (node.path == lease.node_path()) return {&ensemble, node.stat.ephemeral_owner, lease.fencing_token()};
  return {&ensemble, 0, lease.fencing_token()};
}

/// Works under the lock. False: it was not acquired.
template <class AnyLease, class Acquire, class Locks>
asio::awaitable<bool> work(World& world, std::string who, Acquire acquire, Locks locks) {
  auto acquired = world.simulation.operation<AnyLease>(who, {.name = "acquire"}, std::move(acquire));
  auto [error, lease] = co_await std::move(acquired);
  if (error) co_return false;
  Grant grant{.who = who};
  grant.locks = locks(lease);
  world.granted(grant);
  co_await test::pause(500ms);
  world.ended(grant);
  auto released = world.simulation.operation<>(who, {.name = "release", .can_be_cancelled = false},
                                               [&lease = lease](auto token) { lease.async_release(std::move(token)); });
  co_await std::move(released);
  co_return true;
}

asio::awaitable<bool> work_under_one(World& world, std::string who, const LockRegistry& registry, Struck where) {
  auto acquire = [&registry](auto token) { registry.async_lock(name, Isolation::write, std::move(token)); };
  auto locks = [&world, where](const Lease& lease) { return std::vector{held(world.ensemble(where), lease)}; };
  auto working = work<Lease>(world, std::move(who), acquire, locks);
  co_return co_await std::move(working);
}

asio::awaitable<bool> work_under_both(World& world, std::string who, const Process& process) {
  const InterProcessMultiLock both = process.both();
  auto acquire = [&both](auto token) { both.async_acquire(std::move(token)); };
  auto locks = [&world](const MultiLease& lease) {
    return std::vector{held(world.ensemble(Struck::north), lease.leases()[0]),
                       held(world.ensemble(Struck::south), lease.leases()[1])};
  };
  auto working = work<MultiLease>(world, std::move(who), acquire, locks);
  co_return co_await std::move(working);
}

asio::awaitable<bool> work_in(World& world, std::string who, const Process& process, Stage stage) {
  switch (stage) {
    case Stage::before: co_return co_await work_under_one(world, who + "0", process.before(), Struck::north);
    case Stage::both: co_return co_await work_under_both(world, who + "1", process);
    case Stage::after: co_return co_await work_under_one(world, who + "2", process.after(), Struck::south);
  }
  co_return false;
}

/// A process, which goes from stage to stage as if it were restarted.
asio::awaitable<void> serve(std::shared_ptr<World> world, std::string who, std::chrono::milliseconds comes_after) {
  co_await test::pause(comes_after);
  Process process{*world, who};
  co_await work_in(*world, who, process, Stage::before);
  --world->left_before;
  const bool waits = world->procedure == Procedure::whole || world->procedure == Procedure::without_write;
  if (world->procedure != Procedure::without_both && who == "a") co_await work_in(*world, who, process, Stage::both);
  while (waits && !world->moved && !world->failed) co_await test::pause(50ms);
  if (!world->failed) co_await work_in(*world, who, process, Stage::after);
  co_await test::pause(4s);  // until all writes have arrived
  co_await process.end();
}

/// When no process takes the old lock alone any more, a write under both locks lets the resource refuse what those
/// processes may have on its way. From then on the new lock alone is enough.
asio::awaitable<void> operate(std::shared_ptr<World> world) {
  while (world->left_before > 0) co_await test::pause(50ms);
  Process process{*world, "operator"};
  const bool writes = world->procedure != Procedure::without_write;
  if (writes && !co_await work_in(*world, "operator", process, Stage::both)) world->failed = true;
  world->moved = !world->failed;
  co_await process.end();
}

Scenario move(Procedure procedure, Struck struck) {
  return [=](Simulation& simulation) {
    const auto world = std::make_shared<World>(simulation, procedure, struck);
    simulation.at_the_end("nothing is left in the other ensemble", [world] { return world->other.is_clean(); });
    simulation.actor([world] { return serve(world, "a", 0ms); });
    simulation.actor([world] { return serve(world, "b", 800ms); });  // when "a" has both
    simulation.actor([world] { return operate(world); });
  };
}

}  // namespace

TEST_CASE("a name that moves to another ensemble has one holder whatever fails in the old one") {
  test::check_exploration(move(Procedure::whole, Struck::north), 200);
}

TEST_CASE("a name that moves to another ensemble has one holder whatever fails in the new one") {
  test::check_exploration(move(Procedure::whole, Struck::south), 200);
}

TEST_CASE("each step of a move is needed") {
  struct Row {
    Procedure procedure;
    std::string_view what;
  };
  for (const Row& row : {Row{Procedure::without_both, "b0 is granted what a2 holds"},
                         Row{Procedure::without_waiting, "a2 is granted what b0 holds"},
                         Row{Procedure::without_write, "b0 writes after a later holder"}}) {
    Simulation simulation{1, {.latency = 1ms}};
    move(row.procedure, Struck::north)(simulation);
    simulation.run();
    INFO(row.what);
    REQUIRE_FALSE(simulation.failures().empty());
    CHECK(simulation.failures().front() == row.what);
  }
}

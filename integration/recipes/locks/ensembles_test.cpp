// Locks that are spread over several ensembles, each of one server; and one of them is away.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/lock_registry.hpp>

#include <array>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

std::array<testing::TestServer, 3>& servers() {
  static std::array<testing::TestServer, 3> all;
  return all;
}

Client client_of(std::size_t number, std::chrono::milliseconds session, std::chrono::milliseconds connection) {
  return Client{{.connect_string = servers()[number].connect_string(),
                 .session_timeout = session,
                 .connection_timeout = connection,
                 .retry = ExponentialBackoffRetry{.base = 20ms, .max_retries = 8}}};
}

const std::array<std::string, 3> ensembles{"north", "south", "west"};
constexpr std::size_t south = 1;  // the ensemble that is away

struct Fixture {
  // Short times where a test waits for them to pass; long ones where the machine's load must not matter.
  Client north = client_of(0, 10s, 15s), west = client_of(2, 10s, 15s);
  Client in_south = client_of(south, 2s, 1s);
  std::string base = fresh_path();
  LockRegistry registry{
      {{.name = "north", .client = north}, {.name = "south", .client = in_south}, {.name = "west", .client = west}},
      base};

  Fixture() { REQUIRE(in_south.wait_connected(20s)); }

  /// A name of that ensemble; another one for each number.
  [[nodiscard]] std::string name_in(const std::string& ensemble, int number) const {
    for (int i = 0; i < 1'000; ++i) {
      std::string name = "sku-" + std::to_string(i);
      if (registry.ensemble_of(name) == ensemble && number-- == 0) return name;
    }
    throw std::runtime_error{"no name is in " + ensemble};
  }
  [[nodiscard]] InterProcessMultiLock lock_of_all(int number) const {
    std::vector<InterProcessReadWriteLock> locks;
    for (const std::string& each : ensembles) locks.push_back(registry.read_write_lock(name_in(each, number)));
    return InterProcessMultiLock{{locks[2].write_lock(), locks[1].write_lock(), locks[0].write_lock()}};
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "each name of a registry is in one ensemble, for all processes") {
  const Client others[] = {client_of(0, 10s, 15s), client_of(1, 10s, 15s), client_of(2, 10s, 15s)};
  const LockRegistry theirs{std::vector<RegistryEnsemble>{{.name = "west", .client = others[2]},
                                                          {.name = "north", .client = others[0]},
                                                          {.name = "south", .client = others[1]}},
                            base};
  const Client* clients[] = {&north, &in_south, &west};
  for (std::size_t i = 0; i < ensembles.size(); ++i) {
    const std::string name = name_in(ensembles[i], 0);
    CHECK(theirs.ensemble_of(name) == ensembles[i]);
    const Lease lease = registry.lock(name, Isolation::write, 10s);
    CHECK_FALSE(theirs.try_lock(name, Isolation::read));
    CHECK(theirs.participants(name).size() == 1);
    for (std::size_t j = 0; j < ensembles.size(); ++j)
      CHECK(children_of(connected_session(*clients[j]), base + "/" + name).size() == (i == j ? 1 : 0));
  }
}

TEST_CASE_METHOD(Fixture, "a multi-lock over several ensembles holds all of its locks or none") {
  InterProcessMultiLock all = lock_of_all(0);
  all.acquire();
  for (const std::string& each : ensembles) CHECK_FALSE(registry.try_lock(name_in(each, 0), Isolation::read));
  all.release();
  const Lease one = registry.lock(name_in("south", 0), Isolation::read, 10s);
  CHECK_FALSE(all.try_lock());
  for (const std::string each : {"north", "west"})
    CHECK(registry.try_lock(name_in(each, 0), Isolation::write, 10s));  // given back
}

TEST_CASE_METHOD(Fixture, "locks on one path in two ensembles are two locks") {
  const InterProcessMutex here{north, base + "/a"};
  const InterProcessMutex there{west, base + "/a"};
  InterProcessMultiLock both{{here, there}};
  CHECK(both.acquire(20s));
  for (const Client* client : {&north, &west}) CHECK(children_of(connected_session(*client), base + "/a").size() == 1);
  both.release();
}

TEST_CASE_METHOD(Fixture, "a registry refuses ensembles without a name, of one name, and of no weight") {
  using Ensembles = std::vector<RegistryEnsemble>;
  for (const Ensembles& refused : {Ensembles{}, Ensembles{{.name = "", .client = north}},
                                   Ensembles{{.name = "a", .client = north}, {.name = "a", .client = west}},
                                   Ensembles{{.name = "a", .client = north, .weight = 0}},
                                   Ensembles{{.name = "a", .client = north, .weight = 1'001}}})
    CHECK(thrown_by([&] { LockRegistry{refused, base}; }) == Error::bad_arguments);
  CHECK(thrown_by([&] {
          LockRegistry{Ensembles{{.name = "a", .client = north}}, "relative"};
        }) == LockError::invalid_lock_path);
  CHECK(LockRegistry{north, base}.ensemble_of("x").empty());
  CHECK(LockRegistry{Ensembles{{.name = "a", .client = north, .weight = 1'000}}, base}.ensemble_of("x") == "a");
  const LockRegistry moved{std::move(registry)};
  CHECK(thrown_by([&] { static_cast<void>(registry.ensemble_of("x")); }) ==  // NOLINT(bugprone-use-after-move)
        Error::empty_object);
}

TEST_CASE_METHOD(Fixture, "while one ensemble is away only its locks fail, and they work again when it is back",
                 "[faults]") {
  const Lease in_north = registry.lock(name_in("north", 0), Isolation::write, 10s);
  const Lease lost = registry.lock(name_in("south", 0), Isolation::write, 10s);
  const Lease in_west = registry.lock(name_in("west", 0), Isolation::read, 10s);
  servers()[south].kill();

  // A lock of the lost ensemble is asked for, and meanwhile the others' locks are as they ever were.
  Pending<Lease> refused;
  registry.async_lock(name_in("south", 1), Isolation::write, refused.handler());
  for (int i = 0; i < 20; ++i)
    for (const std::string each : {"north", "west"})
      CHECK(registry.try_lock(name_in(each, 1), Isolation::write).has_value());
  CHECK(std::get<0>(refused.get()) == Error::not_connected);
  CHECK(eventually([&] { return lost.state() == LeaseState::lost; }));
  CHECK(in_north.state() == LeaseState::held);
  CHECK(in_west.state() == LeaseState::held);

  // A multi-lock that needs one of its locks gives the others back.
  InterProcessMultiLock all = lock_of_all(2);
  CHECK(thrown_by([&] { all.acquire(); }) == Error::not_connected);
  for (const std::string each : {"north", "west"})
    CHECK(registry.try_lock(name_in(each, 2), Isolation::write, 10s).has_value());

  servers()[south].start();
  REQUIRE(in_south.wait_connected(20s));
  CHECK(registry.try_lock(name_in("south", 0), Isolation::write, 20s).has_value());  // as soon as its session has ended
  CHECK(all.acquire(20s));
  CHECK(in_north.state() == LeaseState::held);
  CHECK(in_west.state() == LeaseState::held);
}

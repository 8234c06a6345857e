// A follower that is cut off from its leader and goes on answering its clients.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/network.hpp"

#include <zklock/testing/test_ensemble.hpp>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>

using namespace zklock;
using namespace zklock::test;
using testing::TestEnsemble;

namespace {

constexpr int skipped = 254;  // SKIP_RETURN_CODE; otherwise the number of assertions that failed

std::unique_ptr<Network> network_or_skip(std::size_t hosts) {
  try {
    return std::make_unique<Network>(hosts);
  } catch (const NetworkUnavailable& reason) {
    std::cout << "SKIPPED: " << reason.what() << std::endl;
    std::exit(skipped);
  }
}

constexpr std::chrono::milliseconds tick{250};
constexpr int sync_limit = 16;
constexpr std::chrono::milliseconds timeout{2'000};

Client client_of(const testing::TestServer& server) {
  return Client{{.connect_string = server.connect_string(), .session_timeout = timeout}};
}

}  // namespace

TEST_CASE("a lease on a follower that is cut off from its leader ends before another client has the lock", "[faults]") {
  const auto network = network_or_skip(3);
  TestEnsemble ensemble{{.sync_limit = sync_limit,
                         .server = {.tick = tick},
                         .addresses = network->addresses(),
                         .launchers = network->launchers()}};
  const std::size_t leader = ensemble.leader();
  const std::size_t follower = ensemble.follower();
  const Client client = client_of(ensemble.server(follower));
  const Client bystander = client_of(ensemble.server(follower));
  const Client other = client_of(ensemble.server(leader));
  const Session watching = connected_session(bystander);
  const Session session = connected_session(client);
  const Session observing = connected_session(other);
  const InterProcessMutex mutex{client, "/lock"};
  const InterProcessMutex theirs{other, "/lock"};
  Lease lease = acquire(mutex);
  Pending<Lease> next;
  theirs.async_acquire(next.handler());
  REQUIRE(eventually([&] { return children_of(observing, "/lock").size() == 2; }));

  Pending<> lost;
  std::atomic<Clock::time_point> heard{Clock::time_point::max()};
  lease.async_wait_lost([&, told = lost.handler()](error_code error) {
    heard = Clock::now();
    told(error);
  });
  // Waits until a renewal has proven the session, since the proof of the handshake lasts longer.
  REQUIRE(eventually([&, first = lease.valid_until()] { return lease.valid_until() > first + timeout; }));
  const auto cut = Clock::now();
  network->cut_off(follower);
  const Lease theirs_now = std::get<1>(next.get());
  const auto granted = Clock::now();
  const LeaseState seen_then = lease.state();
  const ConnectionState believed = client.state();
  CHECK(seen_then == LeaseState::lost);
  CHECK(theirs_now.is_held());
  const auto [unanswered, seen] = outcome_of_operation<std::optional<Stat>>(
      [&](auto token) { watching.async_exists(lease.node_path(), std::move(token)); });
  CHECK_FALSE(unanswered);  // the follower replies with old state
  CHECK(seen);
  CHECK_FALSE(std::get<0>(lost.get()));
  CHECK(lease.valid_until() <= granted);
  REQUIRE(eventually([&] { return client.state() != ConnectionState::connected; }));
  const auto noticed = Clock::now();
  CHECK(lost.completions() == 1);

  const auto ms = [](auto time) { return std::chrono::duration_cast<std::chrono::milliseconds>(time).count(); };
  WARN("session timeout " << timeout.count() << " ms; the lease ended " << ms(heard.load() - cut)
                          << " ms after the cut; others got the lock " << ms(granted - cut)
                          << " ms after the cut, when the client said '" << to_string(believed) << "'; it noticed "
                          << ms(noticed - granted) << " ms later");

  network->rejoin(follower);
  ensemble.wait_quorum();
  REQUIRE(eventually([&] { return client.state() == ConnectionState::reconnected; }));
  CHECK_FALSE(client.session() == session);
}

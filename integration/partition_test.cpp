// A follower that does not hear of its leader, and goes on answering its clients.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"
#include "support/network.hpp"
#include "support/operations.hpp"

#include <zklock/testing/test_ensemble.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <vector>

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

Client client_of(const std::string& server) { return Client{{.connect_string = server, .session_timeout = timeout}}; }
Client client_of(const testing::TestServer& server) { return client_of(server.connect_string()); }

}  // namespace

TEST_CASE("a lease on a follower that is cut off from its leader ends before anybody else has the lock", "[faults]") {
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
  const InterProcessMutex mutex{client, "/lock"};
  const InterProcessMutex theirs{other, "/lock"};
  Lease lease = acquire(mutex);
  Pending<Lease> next;
  theirs.async_acquire(next.handler());
  REQUIRE(eventually([&] { return children_of(other.session(), "/lock").size() == 2; }));

  Pending<> lost;
  std::atomic<Clock::time_point> heard{Clock::time_point::max()};
  lease.async_wait_lost([&, told = lost.handler()](error_code error) {
    heard = Clock::now();
    told(error);
  });
  // Not what the handshake has proven, which lasts longer.
  REQUIRE(eventually([&, first = lease.valid_until()] { return lease.valid_until() > first + timeout; }));
  const auto cut = Clock::now();
  network->cut_off(follower);
  REQUIRE(next.ready(timeout + 2 * tick + 1s));  // the leader looks once a tick; the rest is for a busy machine
  const auto granted = Clock::now();
  const ConnectionState believed = client.state();
  CHECK(std::get<1>(next.get()).is_held());
  const auto [unanswered, seen] = outcome_of_operation<std::optional<Stat>>(
      [&](auto token) { watching.async_exists(lease.node_path(), std::move(token)); });
  CHECK_FALSE(unanswered);  // the follower answers, from the past
  CHECK(seen);
  CHECK(lost.ready());
  CHECK(heard.load() <= granted);
  CHECK(lease.state() == LeaseState::lost);
  REQUIRE(eventually([&] { return client.state() != ConnectionState::connected; }, sync_limit * tick + 2s));
  const auto noticed = Clock::now();
  CHECK(noticed - cut <= sync_limit * tick + 2 * tick + 500ms);  // the follower reads with this limit
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

TEST_CASE("a leader that goes on after a pause ends sessions, and none of them takes itself to live on", "[faults]") {
  const bool reconnect = GENERATE(false, true);  // while the leader stands still
  CAPTURE(reconnect);
  TestEnsemble ensemble{{.sync_limit = sync_limit, .server = {.tick = tick}}};
  testing::TestServer& leader = ensemble.server(ensemble.leader());
  FrameProxy link{ensemble.server(ensemble.follower()).port()};
  const Client observer{{.connect_string = leader.connect_string(), .session_timeout = 10 * timeout}};
  const Session observing = connected_session(observer);
  constexpr int count = 16;
  std::vector<Client> clients;
  std::vector<Lease> leases;
  std::map<std::string, Session> living;
  for (int i = 0; i < count; ++i) {
    clients.push_back(client_of(link.address()));
    leases.push_back(acquire(InterProcessMutex{clients.back(), "/lock-" + std::to_string(i)}));  // renews its session
    const std::string node = "/" + std::to_string(i);
    REQUIRE_FALSE(create(clients.back(), node, {}, CreateMode::ephemeral));
    living.emplace(node.substr(1), clients.back().session());
  }
  const auto proven_again = [&](const Lease& lease) { return lease.valid_until() > Clock::now() + timeout / 3; };
  REQUIRE(eventually([&] { return std::all_of(leases.begin(), leases.end(), proven_again); }));

  leader.pause();
  const auto paused = Clock::now();
  const auto overdue = paused + timeout + 2 * tick;  // and sooner than a follower gives its leader up
  REQUIRE(eventually([&] { return Clock::now() > paused + timeout / 2; }));
  if (reconnect) link.cut();
  REQUIRE(eventually([&] { return Clock::now() > overdue; }));
  leader.resume();
  int ended = 0;
  const auto watched_until = Clock::now() + timeout;
  while (!living.empty() && Clock::now() < watched_until) {
    const auto names = children_of(observing, "/");
    const auto seen_at = Clock::now();
    for (auto each = living.begin(); each != living.end();) {
      if (std::find(names.begin(), names.end(), each->first) != names.end()) {
        ++each;
        continue;
      }
      INFO("session of /" << each->first);
      CHECK(each->second.valid_until() <= seen_at);
      ++ended;
      each = living.erase(each);
    }
  }
  CHECK(ended > 0);
}

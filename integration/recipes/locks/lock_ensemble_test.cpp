// Locks while their ensemble has no quorum, or is replaced by another.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <zklock/testing/test_ensemble.hpp>

#include <mutex>
#include <vector>

using namespace zklock;
using namespace zklock::test;

TEST_CASE("without a quorum no client gets a lock and the holder loses it, while two servers of three grant locks",
          "[faults]") {
  testing::TestEnsemble ensemble;
  const auto client_of = [&] {
    return Client{{.connect_string = ensemble.connect_string(),
                   .session_timeout = session_timeout,
                   .connection_timeout = 60s,
                   .retry = RetryForever{20ms}}};
  };
  const Client client = client_of();
  const Client other = client_of();
  const InterProcessMutex mutex{client, "/locks/orders"};
  Lease lease = acquire(mutex);
  Pending<Lease> next;
  InterProcessMutex{other, "/locks/orders"}.async_acquire(next.handler());
  REQUIRE(eventually([&] { return children_of(client.session(), "/locks/orders").size() == 2; }));
  std::mutex guard;
  std::vector<ConnectionState> states;
  const StateSubscription subscription = client.subscribe([&](ConnectionState state) {
    const std::lock_guard lock{guard};
    states.push_back(state);
  });

  for (const std::size_t dead : {0U, 1U}) ensemble.server(dead).kill();
  REQUIRE(eventually([&] { return lease.state() != LeaseState::held; }));
  REQUIRE(eventually([&] { return lease.state() == LeaseState::lost; }));
  REQUIRE(eventually([&] { return client.state() == ConnectionState::lost; }));
  CHECK(std::get<0>(outcome_of_operation<Lease>([&](auto token) { mutex.async_acquire(1s, std::move(token)); })) ==
        Error::not_connected);
  CHECK_FALSE(next.ready());

  ensemble.server(0).start();
  CHECK(std::get<1>(next.get()).is_held());
  using enum ConnectionState;
  CHECK(eventually([&] {
    const std::lock_guard lock{guard};
    return states.back() == reconnected;
  }));
  const std::lock_guard lock{guard};
  REQUIRE(states.size() >= 4);  // between the two kills the other server may have taken the session
  CHECK(std::vector(states.end() - 3, states.end()) == std::vector{suspended, lost, reconnected});
}

TEST_CASE("a client that moves to servers without its session loses the lock, and enqueues there", "[faults]") {
  testing::TestServer before;
  testing::TestServer after;
  Client client = make_client(before);
  Client other = make_client(before);
  const InterProcessMutex mutex{client, "/locks/orders"};
  const Lease lease = acquire(mutex);
  Pending<Lease> waiter;
  InterProcessMutex{other, "/locks/orders"}.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return children_of(client.session(), "/locks/orders").size() == 2; }));
  before.kill();
  client.update_server_list(after.connect_string());
  REQUIRE(eventually([&] { return lease.state() == LeaseState::lost; }));
  CHECK_FALSE(waiter.ready());  // no other client has the lock
  Lease again = acquire(mutex);
  other.update_server_list(after.connect_string());
  REQUIRE(eventually([&] { return children_of(client.session(), "/locks/orders").size() == 2; }));
  CHECK_FALSE(waiter.ready());
  CHECK_FALSE(lease.is_held());
  again = Lease{};
  CHECK(std::get<1>(waiter.get()).is_held());
}

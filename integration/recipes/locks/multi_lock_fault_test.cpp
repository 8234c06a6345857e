// InterProcessMultiLock while its server is killed.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <zklock/recipes/locks/inter_process_multi_lock.hpp>

#include <algorithm>

using namespace zklock;
using namespace zklock::test;

TEST_CASE("a waiting multi-lock keeps its queue positions while the server is killed and restarted", "[faults]") {
  testing::TestServer server;
  const Client client = make_client(server);
  const Client other = make_client(server);
  Lease holder = acquire(InterProcessMutex{other, "/locks/right"});
  const InterProcessMultiLock both{client, {"/locks/right", "/locks/left"}};
  Pending<MultiLease> waiter;
  both.async_acquire(waiter.handler());
  const auto places = [&] {
    auto names = children_of(connected_session(other), "/locks/left");
    for (std::string& name : children_of(connected_session(other), "/locks/right")) names.push_back(std::move(name));
    std::sort(names.begin(), names.end());
    return names;
  };
  REQUIRE(eventually([&] { return places().size() == 3; }));
  const auto before = places();
  server.kill();
  server.start();
  REQUIRE(client.wait_connected(20s));
  CHECK_FALSE(sync(connected_session(client)));
  CHECK(places() == before);
  CHECK_FALSE(waiter.ready());
  CHECK(holder.is_held());
  holder = Lease{};
  const auto [error, lease] = waiter.get();
  REQUIRE_FALSE(error);
  CHECK(lease.is_held());
  CHECK(eventually([&] { return places().size() == 2; }));
}

// DistributedAtomicLong and DistributedAtomicInteger with Curator's, and with Kazoo's Counter, on one path.
#include "peer.hpp"
#include "support/catch.hpp"

#include <zklock/recipes/counters/distributed_atomic.hpp>

#include <string>

using namespace zklock;
using namespace zklock::test;

TEST_CASE("zklock and Curator count together by one DistributedAtomicLong") {
  testing::TestServer server;
  Curator curator{server};
  const Client client = make_client(server);
  const DistributedAtomicLong counter{client, "/counters/orders"};
  CHECK(curator("count long /counters/orders 5000 1") == "5000");  // Curator makes the node
  CHECK(counter.add(-5'001).after == -1);
  CHECK(curator("count long /counters/orders 1 1") == "0");
  CHECK(DistributedAtomicLong{client, "/counters/ours"}.add(1LL << 40).before == 0);  // zklock makes it
  CHECK(curator("count long /counters/ours -1 1") == std::to_string((1LL << 40) - 1));

  curator.begin("count long /counters/orders 1000 40");
  for (int i = 0; i < 40; ++i) counter.increment();
  CHECK(curator.outcome() != "no");
  CHECK(counter.get() == 40 * 1'001);
}

TEST_CASE("zklock, Curator and Kazoo count together by one DistributedAtomicInteger") {
  testing::TestServer server;
  Curator curator{server};
  Kazoo kazoo{server};
  const Client client = make_client(server);
  const DistributedAtomicInteger counter{client, "/counters/small"};
  CHECK(kazoo("add /counters/small -7") == "-7");
  CHECK(counter.add(2).before == -7);
  CHECK(curator("count int /counters/small 5 1") == "0");

  const auto log = server.directory() / "log";
  curator.begin("count int /counters/small 1000 40");
  kazoo.begin("add_often /counters/small 100000 40 " + log.string());
  for (int i = 0; i < 40; ++i) counter.increment();
  CHECK(curator.outcome() != "no");
  CHECK(kazoo.outcome() == "yes");
  CHECK(counter.get() == 40 * 101'001);
}

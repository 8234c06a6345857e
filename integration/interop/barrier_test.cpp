// DistributedBarrier with Curator's and Kazoo's on the same path.
#include "peer.hpp"
#include "support/catch.hpp"

#include <zklock/recipes/barriers/distributed_barrier.hpp>

#include <string>

using namespace zklock;
using namespace zklock::test;

namespace {

const std::string path = "/barriers/start";

/// Each closes the barrier and opens it, for the other and for itself. A second barrier keeps the directory, a
/// container: Kazoo looks for the directory in one request and makes the node in another, and fails if the server reaps
/// between them.
void check_one_barrier(const testing::TestServer& server, Peer& peer) {
  const Client client = make_client(server);
  DistributedBarrier{client, "/barriers/other"}.set();
  const DistributedBarrier barrier{client, path};
  CHECK(peer("pass_barrier " + path + " 5000") == "yes");

  barrier.set();
  CHECK(peer("pass_barrier " + path + " 200") == "no");
  peer.begin("pass_barrier " + path + " 20000");
  CHECK_FALSE(eventually([&] { return peer.has_answered(); }, 200ms));
  barrier.remove();
  CHECK(peer.outcome() == "yes");

  REQUIRE(peer("close " + path) == "yes");
  barrier.set();
  CHECK_FALSE(barrier.wait(200ms));
  Pending<> waiting;
  barrier.async_wait(waiting.handler());
  CHECK_FALSE(waiting.ready(200ms));
  REQUIRE(peer("open " + path) == "yes");
  CHECK_FALSE(std::get<0>(waiting.get()));
  barrier.remove();
}

}  // namespace

TEST_CASE("zklock and Curator close, wait at and open one barrier") {
  testing::TestServer server;
  Curator curator{server};
  check_one_barrier(server, curator);
}

TEST_CASE("zklock and Kazoo close, wait at and open one barrier") {
  testing::TestServer server;
  Kazoo kazoo{server};
  check_one_barrier(server, kazoo);
}

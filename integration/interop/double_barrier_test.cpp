// DistributedDoubleBarrier with Curator's and Kazoo's on the same path.
#include "peer.hpp"
#include "support/catch.hpp"

#include <zklock/recipes/barriers/distributed_double_barrier.hpp>

#include <string>

using namespace zklock;
using namespace zklock::test;

namespace {

const std::string path = "/barriers/start";
const std::string enter = "enter_barrier " + path + " 2 20000";
const std::string leave = "leave_barrier " + path;

enum class PeerLeaves { with_the_others, early };

/// Each comes first and leaves first in its turn, at one barrier.
void check_one_barrier(const testing::TestServer& server, Peer& peer, PeerLeaves leaves) {
  const Client client = make_client(server);
  const DistributedDoubleBarrier barrier{client, path, 2};
  for (const bool peer_is_first : {true, false, true, false}) {
    CAPTURE(peer_is_first);
    Pending<BarrierMembership> entering;
    if (peer_is_first) {
      peer.begin(enter);
      CHECK_FALSE(eventually([&] { return peer.has_answered(); }, 200ms));
      barrier.async_enter(entering.handler());
    } else {
      barrier.async_enter(entering.handler());
      CHECK_FALSE(entering.ready(200ms));
      peer.begin(enter);
    }
    CHECK(peer.outcome() == "yes");
    auto [failed, membership] = entering.get();
    REQUIRE_FALSE(failed);

    Pending<> leaving;
    if (peer_is_first) {
      peer.begin(leave);
      if (leaves == PeerLeaves::with_the_others) CHECK_FALSE(eventually([&] { return peer.has_answered(); }, 200ms));
      membership.async_leave(leaving.handler());
    } else {
      membership.async_leave(leaving.handler());
      CHECK_FALSE(leaving.ready(200ms));
      peer.begin(leave);
    }
    CHECK(peer.outcome() == "yes");
    CHECK_FALSE(std::get<0>(leaving.get()));
    CHECK(eventually([&] { return children_of(connected_session(client), path).empty(); }));
  }
}

}  // namespace

TEST_CASE("zklock and Curator enter and leave one double barrier") {
  testing::TestServer server;
  Curator curator{server};
  // Curator's member whose name is the last one waits for its own node alone.
  check_one_barrier(server, curator, PeerLeaves::early);
}

TEST_CASE("zklock and Kazoo enter and leave one double barrier") {
  testing::TestServer server;
  Kazoo kazoo{server};
  check_one_barrier(server, kazoo, PeerLeaves::with_the_others);
}

TEST_CASE("Curator's member whose time is up stays at the double barrier, and lets zklock's in alone") {  // CURATOR-80
  testing::TestServer server;
  Curator curator{server};
  const Client client = make_client(server);
  const DistributedDoubleBarrier barrier{client, path, 2};
  CHECK(curator("enter_barrier " + path + " 2 200") == "no");
  CHECK(barrier.enter(20s));

  const DistributedDoubleBarrier other{client, path + "-2", 2};  // zklock's leaves nothing to Curator's
  CHECK_FALSE(other.enter(200ms));
  CHECK(curator("enter_barrier " + path + "-2 2 500") == "no");
}

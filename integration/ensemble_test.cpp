// Three servers, of which some die, are restarted or are slow.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"
#include "support/load.hpp"

#include <zklock/testing/test_ensemble.hpp>

using namespace zklock;
using namespace zklock::test;
using testing::TestEnsemble;

namespace {

constexpr std::chrono::milliseconds timeout{9'000};

// A turn needs some ten answers. A server's death costs every worker a link or at least an election (200 ms to settle, or
// the ensemble's init_limit and once more: ZOOKEEPER-4685), and behind a holder who waits wait all others. When it took
// longer than the session timeout, sessions would be lost.
constexpr std::chrono::milliseconds longest_turn = timeout;

void require_progress(Load& load) {
  const bool goes_on = load.goes_on();
  if (!goes_on) load.stop();
  INFO((goes_on ? "" : load.failure()));
  REQUIRE(goes_on);
}

void check_all_is_counted(Load& load) {
  load.stop();
  CHECK(load.failure() == "");
  CHECK(load.written() == load.counted());
  CHECK(load.leaves_no_trace());
  INFO("the longest turn: " << load.longest().count() << " ms");
  CHECK(load.longest() < longest_turn);
}

}  // namespace

TEST_CASE("the death of leaders loses no count, no session and no operation", "[faults]") {
  TestEnsemble ensemble;
  Load load{ensemble.connect_string(), timeout, 4};
  for (int round = 0; round < 3; ++round) {
    require_progress(load);
    const std::size_t leader = ensemble.leader();
    ensemble.server(leader).kill();
    require_progress(load);
    ensemble.server(leader).start();
    ensemble.wait_quorum();
  }
  check_all_is_counted(load);
}

TEST_CASE("restarting the servers one after the other loses no count, no session and no operation", "[faults]") {
  TestEnsemble ensemble;
  Load load{ensemble.connect_string(), timeout, 4};
  for (std::size_t i = 0; i < ensemble.size(); ++i) {
    require_progress(load);
    ensemble.server(i).restart();
    ensemble.wait_quorum();
  }
  require_progress(load);
  check_all_is_counted(load);
}

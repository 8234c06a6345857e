// Three servers, of which some are killed, restarted or slow.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"
#include "support/load.hpp"
#include "support/temporary_directory.hpp"

#include <zklock/testing/test_ensemble.hpp>

#include <fstream>
#include <memory>

using namespace zklock;
using namespace zklock::test;
using testing::TestEnsemble;

namespace {

constexpr std::chrono::milliseconds timeout = session_timeout;

/// The limits, in ticks, take about as long as those of other ensembles.
TestEnsemble patient_ensemble() {
  return TestEnsemble{{.init_limit = 2, .sync_limit = 2, .server = {.tick = long_tick, .start_timeout = 120s}}};
}

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
}

}  // namespace

TEST_CASE("killing the leaders loses no count, no session and no operation", "[faults]") {
  TestEnsemble ensemble = patient_ensemble();
  Load load{ensemble.connect_string(), long_session_timeout, 4};
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
  TestEnsemble ensemble = patient_ensemble();
  Load load{ensemble.connect_string(), long_session_timeout, 4};
  for (std::size_t i = 0; i < ensemble.size(); ++i) {
    require_progress(load);
    ensemble.server(i).restart();
    ensemble.wait_quorum();
  }
  require_progress(load);
  check_all_is_counted(load);
}

namespace {

/// An ensemble whose disks are slow when told so, and a link to each server.
struct SlowFixture {
  TemporaryDirectory directory;
  std::string delay_file = directory.file("delay");
  TestEnsemble ensemble{
      {.server = {.container_check = 1h,  // no server deletes the empty directory
                  .fsync = true,
                  .launcher = {"env", "ZKLOCK_FLUSH_DELAY=" + delay_file, "LD_PRELOAD=" ZKLOCK_SLOW_FSYNC}}}};
  std::vector<std::unique_ptr<FrameProxy>> links;

  SlowFixture() {
    for (std::size_t i = 0; i < ensemble.size(); ++i)
      links.push_back(std::make_unique<FrameProxy>(ensemble.server(i).port(), ensemble.server(i).address()));
  }

  void set_flush_delay(std::chrono::milliseconds delay) const { std::ofstream{delay_file} << delay.count() << "\n"; }
  [[nodiscard]] std::string connect_string() const {
    std::string list;
    for (const auto& link : links) list += (list.empty() ? "" : ",") + link->address();
    return list;
  }
  /// From now on, connections can be made to this server alone; to none, if there is no such server.
  void open_only(std::size_t index) const {
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (i == index) {
        links[i]->accept_again();
      } else {
        links[i]->refuse();
      }
    }
  }
};

}  // namespace

TEST_CASE_METHOD(SlowFixture,
                 "a create that is looked up on another server before it has arrived there is not made twice",
                 "[faults]") {
  const std::size_t leader = ensemble.leader();
  const std::size_t first = (leader + 1) % 3;
  const std::size_t second = (leader + 2) % 3;
  open_only(first);
  const Client client{{.connect_string = connect_string(), .session_timeout = timeout}};
  const Client observing{{.connect_string = ensemble.server(leader).connect_string(), .session_timeout = timeout}};
  const Session session = connected_session(client);
  const Session observer = connected_session(observing);
  const InterProcessMutex mutex{client, "/lock"};
  { const Lease makes_the_directory = acquire(mutex); }
  for (int round = 0; round < 4; ++round) {
    const std::size_t from = round % 2 == 0 ? first : second;
    const std::size_t to = round % 2 == 0 ? second : first;
    REQUIRE(eventually([&] { return children_of(observer, "/lock").empty(); }));
    set_flush_delay(300ms);
    const int cuts = links[from]->cuts();
    const int creates = links[to]->requests(Opcode::create2);
    links[from]->cut_at({.opcode = Opcode::create2, .point = CutPoint::after_request, .manner = CutManner::orderly});
    open_only(links.size());
    const auto proposals = ensemble.server(leader).monitor("zk_proposal_count");
    Pending<Lease> pending;
    mutex.async_acquire(pending.handler());
    REQUIRE(eventually([&] { return links[from]->cuts() == cuts + 1; }));
    // Had the session moved before the create came to the leader, it would be refused (SESSIONMOVED).
    REQUIRE(eventually([&] { return ensemble.server(leader).monitor("zk_proposal_count") > proposals; }));
    open_only(to);
    const auto [error, lease] = pending.get();
    REQUIRE_FALSE(error);
    set_flush_delay(0ms);
    CHECK(lease.is_held());
    CHECK(client.session() == session);
    CHECK(links[to]->requests(Opcode::create2) == creates);  // it has been found, not made again
    outcome_of_operation<>([&](auto token) { observer.async_sync("/", std::move(token)); });
    CHECK(children_of(observer, "/lock").size() == 1);
  }
}

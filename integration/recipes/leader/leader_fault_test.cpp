// Leaders whose sessions, servers and processes come to an end.
#include "support/catch.hpp"
#include "support/frame_proxy.hpp"
#include "support/leader_fixture.hpp"

#include <zklock/recipes/leader/lead_while.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>
#include <zklock/testing/test_ensemble.hpp>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LeaderFixture {
  LeaderLatch latch{client, path, "a"};
  LeaderLatch same{other, path, "b"};
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a leader whose session is ended is told, and does not lead again before the next one",
                 "[faults]") {
  Leadership leader = lead(latch);
  Pending<Leadership> next;
  same.async_lead(next.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  Pending<> lost;
  leader.async_wait_lost(lost.handler());
  CHECK_FALSE(lost.ready(50ms));
  end_session_of(server, session);
  CHECK_FALSE(std::get<0>(lost.get()));
  CHECK(leader.state() == LeaseState::lost);
  CHECK(resign(leader) == LockError::lock_lost);
  Pending<Leadership> again;
  latch.async_lead(again.handler());
  auto [error, second] = next.get();
  REQUIRE_FALSE(error);
  CHECK_FALSE(again.ready(100ms));
  CHECK_FALSE(resign(second));
  CHECK(std::get<1>(again.get()).fencing_token() > second.fencing_token());
}

TEST_CASE_METHOD(Fixture, "a candidacy leads again after its session was ended, with one node and a newer token",
                 "[faults]") {
  CandidacyStream candidacy = latch.stand();
  REQUIRE(eventually([&] { return candidacy.has_leadership(); }));
  const std::int64_t token = candidacy.fencing_token();
  end_session_of(server, client.session());
  REQUIRE(eventually([&] { return candidacy.has_leadership() && candidacy.fencing_token() > token; }));
  const Session looking = connected_session(other);
  CHECK(children_of(looking, path).size() == 1);
  CHECK(exists(looking, same.participants().at(0).node_path));
}

TEST_CASE_METHOD(Fixture, "a candidacy whose directory an operator deletes stands again", "[faults]") {
  CandidacyStream candidacy = latch.stand();
  REQUIRE(eventually([&] { return candidacy.has_leadership(); }));
  const std::int64_t token = candidacy.fencing_token();
  delete_node(path + "/" + children_of(session, path).at(0));
  REQUIRE(eventually([&] { return candidacy.has_leadership() && candidacy.fencing_token() > token; }));
}

TEST_CASE_METHOD(Fixture, "the stop token of a body is set when the leadership is lost", "[faults]") {
  std::atomic<bool> inside{false};
  std::atomic<bool> stopped{false};
  error_code outcome;
  std::thread thread{[&] {
    try {
      lead_while(latch, [&](Leadership& leadership, const std::stop_token& stop) {
        inside = true;
        stopped = eventually([&] { return stop.stop_requested(); }) && leadership.state() == LeaseState::lost;
      });
    } catch (const boost::system::system_error& error) {
      outcome = error.code();
    }
  }};
  CHECK(eventually([&] { return inside.load(); }));
  end_session_of(server, client.session());
  thread.join();
  CHECK(stopped);
  CHECK(outcome == LockError::lock_lost);
}

TEST_CASE_METHOD(Fixture, "a connection cut right after the create of a candidate leaves no second node, and it leads",
                 "[faults]") {
  FrameProxy proxy{server.port()};
  const Client distant{
      {.connect_string = proxy.address(), .session_timeout = session_timeout, .retry = RetryNTimes{50, 50ms}}};
  static_cast<void>(connected_session(distant));
  proxy.cut_at({.opcode = Opcode::create2, .point = CutPoint::before_reply});
  const LeaderLatch theirs{distant, path, "c"};
  Leadership leader = lead(theirs);
  CHECK(proxy.cuts() == 1);
  CHECK(queue_length() == 1);
  CHECK_FALSE(resign(leader));
  CHECK(nothing_left());
}

TEST_CASE("leaders and candidates survive a restart of their server, and the same one leads", "[faults]") {
  testing::TestServer server{{.tick = long_tick}};
  Client client = make_client(server, long_session_timeout);
  Client other = make_client(server, long_session_timeout);
  const LeaderLatch latch{client, "/leader", "a"};
  const LeaderLatch same{other, "/leader", "b"};
  Leadership leader = lead(latch);
  Pending<Leadership> next;
  same.async_lead(next.handler());
  REQUIRE(eventually([&] { return server.monitor("zk_watch_count") == 1; }));
  LeaderStream leaders = same.leaders();
  Pending<std::optional<Leader>> first;
  leaders.async_next(first.handler());
  CHECK(std::get<1>(first.get())->id == "a");
  server.kill();
  REQUIRE(eventually([&] { return leader.state() == LeaseState::suspect; }));
  CHECK_FALSE(next.ready());
  server.start();
  REQUIRE(eventually([&] { return leader.is_held(); }));
  CHECK_FALSE(next.ready(100ms));
  CHECK_FALSE(resign(leader));
  const Leadership successor = std::get<1>(next.get());
  CHECK(successor.is_held());
  Pending<std::optional<Leader>> second;
  leaders.async_next(second.handler());
  const auto leads_now = std::get<1>(second.get());
  REQUIRE(leads_now);
  CHECK(leads_now->id == "b");
}

TEST_CASE("while a server is down nobody leads by a clock that has run out, and one leads after its restart",
          "[faults]") {
  testing::TestServer server;
  Client client = make_client(server, 4s);
  Client other = make_client(server, 4s);
  CandidacyStream one = LeaderLatch{client, "/leader", "a"}.stand();
  REQUIRE(eventually([&] { return one.has_leadership(); }));
  CandidacyStream two = LeaderLatch{other, "/leader", "b"}.stand();
  REQUIRE(eventually([&] { return server.monitor("zk_watch_count") > 0; }));
  server.kill();
  REQUIRE(eventually([&] { return one.state() != CandidacyState::leading && one.state() != CandidacyState::suspect; }));
  CHECK_FALSE(one.has_leadership());
  CHECK_FALSE(two.has_leadership());
  server.start();
  CHECK(eventually([&] { return one.has_leadership() || two.has_leadership(); }));
  CHECK_FALSE((one.has_leadership() && two.has_leadership()));
}

TEST_CASE("when the servers of a leader and of its followers are killed one by one, the same one leads on",
          "[faults]") {
  testing::TestEnsemble ensemble{{.init_limit = 2, .sync_limit = 2, .server = {.tick = long_tick}}};
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<CandidacyStream> standing;
  for (const char* id : {"a", "b", "c"}) {
    clients.push_back(std::make_unique<Client>(ClientConfig{.connect_string = ensemble.connect_string(),
                                                            .session_timeout = long_session_timeout,
                                                            .connection_timeout = 60s,
                                                            .retry = RetryForever{20ms}}));
    standing.push_back(LeaderLatch{*clients.back(), "/leader", id}.stand());
    REQUIRE(eventually([&] {
      return LeaderLatch{*clients.back(), "/leader"}.participants().size() == clients.size();
    }));
  }
  REQUIRE(eventually([&] { return standing[0].has_leadership(); }));
  const std::int64_t token = standing[0].fencing_token();
  for (const std::size_t dead : {0U, 1U, 2U}) {
    ensemble.server(dead).kill();
    REQUIRE(eventually([&] { return standing[0].has_leadership() && standing[0].valid_until() > Clock::now() + 5s; }));
    CHECK_FALSE((standing[1].has_leadership() || standing[2].has_leadership()));
    ensemble.server(dead).start();
    REQUIRE(eventually([&] { return clients[0]->wait_connected(1s); }));
  }
  CHECK(standing[0].fencing_token() == token);
}

namespace {

constexpr std::chrono::milliseconds child_timeout{4'000};

/// A process that leads, is paused, and records what it observes when it goes on.
[[noreturn]] void lead_and_report(const testing::TestServer& server, const std::string& path, const std::string& stock,
                                  const std::filesystem::path& report) {
  int status = 1;
  try {
    const Client client = make_client(server, child_timeout);
    Leadership leader = lead(LeaderLatch{client, path, "child"});
    Pending<> lost;
    leader.async_wait_lost(lost.handler());
    std::ofstream out{report};
    out << "leads " << leader.is_held() << std::endl;
    // Reads the state without a pause, so that the first read after the stop is the first action of this process.
    LeaseState state = leader.state();
    while (state == LeaseState::held) state = leader.state();
    out << "saw " << to_string(state) << '\n';
    out << "written " << !commit(client, leader.guard().set_data(stock, "stale")) << '\n';
    out << "told " << !std::get<0>(lost.get()) << std::endl;
    status = 0;
  } catch (const std::exception& error) {
    std::ofstream{report, std::ios::app} << "threw " << error.what() << std::endl;
  }
  ::_exit(status);
}

std::string word_after(const std::filesystem::path& file, const std::string& key) {
  std::ifstream in{file};
  std::string word;
  std::string value;
  while (in >> word >> value)
    if (word == key) return value;
  return {};
}

/// A child process that leads.
struct Child {
  testing::TestServer server;
  const std::string path = "/leader";
  const std::string stock = "/stock";
  const std::filesystem::path report = server.directory() / "report";
  pid_t pid = ::fork();  // before this process has a thread of zklock

  Child() {
    if (pid == 0) lead_and_report(server, path, stock, report);
  }
  ~Child() {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  Child(const Child&) = delete;
  [[nodiscard]] bool leads() const {
    return eventually([&] { return word_after(report, "leads") == "1"; });
  }
};

}  // namespace

TEST_CASE("a leader that was paused sees its loss first, and its guarded write is refused", "[faults]") {
  Child child;
  REQUIRE(child.pid > 0);
  const Client client = make_client(child.server);
  const Session session = connected_session(client);
  REQUIRE_FALSE(create(client, child.stock, "1"));
  REQUIRE(child.leads());
  Pending<Leadership> next;
  LeaderLatch{client, child.path, "parent"}.async_lead(next.handler());
  REQUIRE(eventually([&] { return children_of(session, child.path).size() == 2; }));
  ::kill(child.pid, SIGSTOP);
  Leadership leader = std::get<1>(next.get());
  CHECK_FALSE(commit(client, leader.guard().set_data(child.stock, "0")));
  ::kill(child.pid, SIGCONT);
  int status = 1;
  CHECK(::waitpid(std::exchange(child.pid, 0), &status, 0) > 0);
  CHECK(status == 0);
  CHECK(leader.is_held());
  CHECK(word_after(child.report, "saw") == "lost");
  CHECK(word_after(child.report, "written") == "0");
  CHECK(word_after(child.report, "told") == "1");
  CHECK(word_after(child.report, "threw").empty());
}

TEST_CASE("a leader killed by SIGKILL has a successor within the session timeout and a tick", "[timing]") {
  Child child;
  REQUIRE(child.pid > 0);
  const Client client = make_client(child.server);
  const Session session = connected_session(client);
  REQUIRE(child.leads());
  Pending<Leadership> next;
  LeaderLatch{client, child.path, "parent"}.async_lead(next.handler());
  REQUIRE(eventually([&] { return children_of(session, child.path).size() == 2; }));
  ::kill(child.pid, SIGKILL);
  CHECK(eventually([&] { return next.ready(); }, child_timeout + 500ms + 1s));  // T, a tick, and the handoff
  CHECK(std::get<1>(next.get()).is_held());
}

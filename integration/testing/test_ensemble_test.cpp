// The ensemble that other tests use.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <zklock/testing/test_ensemble.hpp>

#include <csignal>
#include <filesystem>
#include <set>

#include <sys/wait.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::test;
using testing::TestEnsemble;

namespace {

std::string role(const testing::TestServer& server) { return server.monitor().at("zk_server_state"); }

error_code create(const Session& session, const std::string& path, CreateMode mode = CreateMode::persistent) {
  return std::get<0>(
      outcome_of_operation<CreateResult>([&](auto token) { session.async_create(path, "", mode, std::move(token)); }));
}

}  // namespace

TEST_CASE("an ensemble starts with one leader, each server on an address of its own", "[faults]") {
  const TestEnsemble ensemble;
  REQUIRE(ensemble.size() == 3);
  std::set<std::string> addresses;
  std::multiset<std::string> roles;
  for (std::size_t i = 0; i < ensemble.size(); ++i) {
    const testing::TestServer& server = ensemble.server(i);
    CHECK(ensemble.connect_string().find(server.connect_string()) != std::string::npos);
    addresses.insert(server.address());
    roles.insert(role(server));
  }
  CHECK(addresses.size() == 3);
  CHECK(roles == std::multiset<std::string>{"follower", "follower", "leader"});
  CHECK(role(ensemble.server(ensemble.leader())) == "leader");
  CHECK(role(ensemble.server(ensemble.follower())) == "follower");
}

TEST_CASE("an ensemble replaces its leader, and takes the old one back with its data", "[faults]") {
  TestEnsemble ensemble;
  const Client client{{.connect_string = ensemble.connect_string(), .session_timeout = session_timeout}};
  REQUIRE_FALSE(create(connected_session(client), "/kept"));
  const std::size_t old = ensemble.leader();
  ensemble.server(old).kill();
  ensemble.wait_quorum();
  const std::size_t next = ensemble.leader();
  CHECK(next != old);
  ensemble.server(old).start();
  ensemble.wait_quorum();
  CHECK(ensemble.leader() == next);
  const Client other{{.connect_string = ensemble.server(old).connect_string(), .session_timeout = session_timeout}};
  CHECK(create(connected_session(other), "/kept") == Error::node_exists);
}

TEST_CASE("an ensemble works without a paused follower, and takes it back", "[faults]") {
  TestEnsemble ensemble;
  const std::size_t paused = ensemble.follower();
  ensemble.server(paused).pause();
  ensemble.wait_quorum();
  CHECK(ensemble.follower() != paused);
  ensemble.server(paused).resume();
  const Client client{{.connect_string = ensemble.server(paused).connect_string(), .session_timeout = session_timeout}};
  CHECK(eventually([&] {  // the server may serve for a moment before it notices the pause
    const error_code error = create(connected_session(client), "/here");
    return !error || error == Error::node_exists;
  }));
  ensemble.wait_quorum();
}

TEST_CASE("an ensemble ends a session wherever its client is", "[faults]") {
  TestEnsemble ensemble;
  for (std::size_t i = 0; i < ensemble.size(); ++i) {
    const Client client{{.connect_string = ensemble.server(i).connect_string(), .session_timeout = session_timeout}};
    const Session session = connected_session(client);
    const SessionCredentials credentials = session.credentials();
    REQUIRE_FALSE(create(session, "/mine", CreateMode::ephemeral));
    const testing::TestServer& leader = ensemble.server(ensemble.leader());
    REQUIRE(leader.monitor("zk_ephemerals_count") == 1);
    ensemble.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
    CHECK(leader.monitor("zk_ephemerals_count") == 0);
    CHECK(eventually([&] { return session.state() == SessionState::expired; }));
  }
}

TEST_CASE("an ensemble with invalid options is refused") {
  CHECK_THROWS_AS((TestEnsemble{{.size = 2}}), std::invalid_argument);
  CHECK_THROWS_AS((TestEnsemble{{.size = 1}}), std::invalid_argument);
  CHECK_THROWS_AS((TestEnsemble{{.init_limit = 0}}), std::invalid_argument);
  CHECK_THROWS_AS((TestEnsemble{{.sync_limit = 0}}), std::invalid_argument);
  CHECK_THROWS_AS((TestEnsemble{{.addresses = {"127.0.0.1"}}}), std::invalid_argument);
  CHECK_THROWS_AS((TestEnsemble{{.addresses = {"localhost", "localhost", "localhost"}}}), std::invalid_argument);
  CHECK_THROWS_AS((TestEnsemble{{.launchers = {{"nice"}}}}), std::invalid_argument);
}

TEST_CASE("after SIGKILL to the owner its ensemble's directories are deleted", "[faults]") {
  int line[2]{};
  REQUIRE(::pipe(line) == 0);
  const int owner = ::fork();
  REQUIRE(owner >= 0);
  if (owner == 0) {  // the child must not return into the test
    try {
      const TestEnsemble ensemble;
      std::string report;
      for (std::size_t i = 0; i < ensemble.size(); ++i) report += ensemble.server(i).directory().string() + "\n";
      if (::write(line[1], report.data(), report.size()) > 0)
        while (true) ::pause();
    } catch (...) {
    }
    ::_exit(1);
  }
  ::close(line[1]);
  std::string report(4096, '\0');
  const auto size = ::read(line[0], report.data(), report.size());
  ::close(line[0]);
  REQUIRE(size > 0);
  std::istringstream directories{report.substr(0, static_cast<std::size_t>(size))};
  REQUIRE(::kill(owner, SIGKILL) == 0);
  REQUIRE(::waitpid(owner, nullptr, 0) == owner);
  int count = 0;
  for (std::string directory; std::getline(directories, directory); ++count)  // deleted after the server's end
    CHECK(eventually([&] { return !std::filesystem::exists(directory); }));
  CHECK(count == 3);
}

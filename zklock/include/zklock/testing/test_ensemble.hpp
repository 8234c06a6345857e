// A real ZooKeeper ensemble for tests.
#pragma once

#include <zklock/testing/test_server.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::testing {

/// How to start a TestEnsemble.
struct TestEnsembleOptions {
  std::size_t size = 3;  ///< odd, 3 to 7
  /// Ticks in which followers must have caught up with a new leader, else there is another election. Few: after an
  /// election under load, release 3.8.0 sometimes sits this time out (ZOOKEEPER-4685).
  int init_limit = 5;
  int sync_limit = 4;  ///< ticks after which a follower and a leader that do not hear of each other part
  /// Of every server. A time to start is for the whole ensemble, and to choose a leader.
  TestServerOptions server{};
  /// Where the servers listen: numeric addresses that this process can reach. Empty: 127.0.0.1, 127.0.0.2, ..., since
  /// the C client takes servers on one address for one server.
  std::vector<std::string> addresses{};
  /// What each server is launched by, in front of `server.launcher`; empty: nothing.
  std::vector<std::vector<std::string>> launchers{};
};

/// Several ZooKeeper servers that elect a leader, each a TestServer: what is said there about directories, errors,
/// threads and the end of all this holds here, too.
///
/// The constructor returns when the ensemble has a leader and all others follow it.
class TestEnsemble {
 public:
  explicit TestEnsemble(TestEnsembleOptions options = {});
  ~TestEnsemble();
  TestEnsemble(TestEnsemble&&) noexcept;
  TestEnsemble& operator=(TestEnsemble&&) noexcept;

  /// All servers: "127.0.0.1:port,127.0.0.2:port,...".
  [[nodiscard]] std::string connect_string() const;
  [[nodiscard]] std::size_t size() const noexcept;
  /// To be killed, stopped, paused, started. Counts from 0.
  [[nodiscard]] TestServer& server(std::size_t index);
  [[nodiscard]] const TestServer& server(std::size_t index) const;

  /// The server that leads now; waits for the election if there is none.
  [[nodiscard]] std::size_t leader() const;
  /// One that follows it.
  [[nodiscard]] std::size_t follower() const;
  /// Waits until all servers that are neither stopped nor paused belong to the quorum.
  void wait_quorum() const;

  /// Ends a session now, as TestServer::end_session does, through the leader.
  void end_session(std::int64_t session_id, std::string_view password);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zklock::testing

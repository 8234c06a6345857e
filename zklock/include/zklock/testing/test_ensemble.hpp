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

/// The options of a TestEnsemble.
struct TestEnsembleOptions {
  std::size_t size = 3;  ///< odd, 3 to 7
  /// The ticks in which followers must have caught up with a new leader; otherwise there is another election. Few,
  /// because release 3.8.0 sometimes waits for all of this time after an election under load (ZOOKEEPER-4685).
  int init_limit = 5;
  int sync_limit = 4;  ///< ticks without a message after which a follower and a leader separate
  /// The options of every server. The start timeout covers the whole ensemble, including the election of a leader.
  TestServerOptions server{};
  /// Where the servers listen: numeric addresses that this process can reach. Empty: 127.0.0.1, 127.0.0.2, ..., because
  /// the C client takes several servers on one address for one server.
  std::vector<std::string> addresses{};
  /// The launcher of each server, in front of `server.launcher`; empty: none.
  std::vector<std::vector<std::string>> launchers{};
};

/// Several ZooKeeper servers that elect a leader. Each is a TestServer: what is said there about directories, errors,
/// threads and the end of the process is true here, too.
///
/// The constructor returns when the ensemble has a leader and all other servers follow it.
class TestEnsemble {
 public:
  explicit TestEnsemble(TestEnsembleOptions options = {});
  ~TestEnsemble();
  TestEnsemble(TestEnsemble&&) noexcept;
  TestEnsemble& operator=(TestEnsemble&&) noexcept;

  /// All servers: "127.0.0.1:port,127.0.0.2:port,...".
  [[nodiscard]] std::string connect_string() const;
  [[nodiscard]] std::size_t size() const noexcept;
  /// A server, to kill, stop, pause or start it. Counts from 0.
  [[nodiscard]] TestServer& server(std::size_t index);
  [[nodiscard]] const TestServer& server(std::size_t index) const;

  /// The current leader; waits for the election if there is none.
  [[nodiscard]] std::size_t leader() const;
  /// A follower of the current leader.
  [[nodiscard]] std::size_t follower() const;
  /// Waits until all servers that are neither stopped nor paused belong to the quorum.
  void wait_quorum() const;

  /// Ends a session now, through the leader, like TestServer::end_session.
  void end_session(std::int64_t session_id, std::string_view password);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zklock::testing

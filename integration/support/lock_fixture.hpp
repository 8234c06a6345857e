// What the tests of a recipe begin with: a client of the server that all tests share, and a path of its own.
#pragma once

#include "fixture.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace zklock::test {

/// A server of the test's own, which it may harm; to be inherited before the next one.
struct OwnServer {
  testing::TestServer own_server{};
};

/// A path of the test's own, and a client by which the test looks at it.
struct ObservedLock {
  testing::TestServer& server;
  Client observer;
  Session session = connected_session(observer);  ///< of the observer
  std::string path;

  explicit ObservedLock(testing::TestServer& on = shared_server(), std::chrono::milliseconds timeout = session_timeout,
                        std::string at = fresh_path())
      : server{on}, observer{make_client(on, timeout)}, path{std::move(at)} {}

  /// How many nodes are in the lock's directory, or in another one.
  [[nodiscard]] std::size_t queue_length() const { return queue_length(path); }
  [[nodiscard]] std::size_t queue_length(const std::string& directory) const {
    return children_of(session, directory).size();
  }
  [[nodiscard]] bool nothing_left() const { return leaves_no_trace(server, session, path); }
  [[nodiscard]] std::string data_of(const std::string& node) const {
    return std::get<1>(
               outcome_of_operation<DataResult>([&](auto token) { session.async_get_data(node, std::move(token)); }))
        .data;
  }
  /// As an operator would.
  void delete_node(const std::string& node) const {
    REQUIRE_FALSE(
        std::get<0>(outcome_of_operation<>([&](auto token) { session.async_remove(node, std::move(token)); })));
  }
  /// The servers end the session, as if its timeout had passed.
  void end(const Session& victim) const {
    const SessionCredentials credentials = victim.credentials();
    server.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
  }
};

/// The client that looks also uses the lock, which a test adds.
struct LockFixture : ObservedLock {
  using ObservedLock::ObservedLock;
  Client& client = observer;
};

}  // namespace zklock::test

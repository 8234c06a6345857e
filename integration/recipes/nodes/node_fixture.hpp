// What the tests of kept nodes begin with.
#pragma once

#include "support/lock_fixture.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/nodes/persistent_node.hpp>

#include <optional>
#include <string>

namespace zklock::test {

inline std::optional<Stat> stat_of(const Session& session, const std::string& path) {
  return std::get<1>(
      outcome_of_operation<std::optional<Stat>>([&](auto token) { session.async_exists(path, std::move(token)); }));
}

/// Ends the client's session at the server; returns its id.
inline std::int64_t end_session_of(testing::TestServer& server, const Client& client) {
  const SessionCredentials lost = client.session().credentials();
  server.end_session(lost.id, {lost.password.data(), lost.password.size()});
  return lost.id;
}

template <class Node>
error_code wait_present(const Node& node, std::chrono::milliseconds wait) {
  return std::get<0>(outcome_of_operation<>([&](auto token) { node.async_wait_present(wait, std::move(token)); }));
}

template <class Node>
error_code close(const Node& node) {
  return std::get<0>(outcome_of_operation<>([&](auto token) { node.async_close(std::move(token)); }));
}

/// An observer beside the client that keeps the node.
struct NodeFixture : LockFixture {
  Client other = make_client(server);
  std::string node_path = path + "/a";

  [[nodiscard]] std::int64_t owner(const std::string& node) const {
    const auto stat = stat_of(session, node);
    return stat ? stat->ephemeral_owner : -1;
  }
  [[nodiscard]] bool eventually_in(const PersistentNode& node, NodePhase phase) const {
    return eventually([&] { return node.state().phase == phase; });
  }
};

}  // namespace zklock::test

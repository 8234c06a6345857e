// What the tests of a recipe begin with: a client of the server that all tests share, and a path of its own.
#pragma once

#include "fixture.hpp"
#include "support/catch.hpp"

#include <string>

namespace zklock::test {

/// A test adds the lock that it is about.
struct LockFixture {
  testing::TestServer& server = shared_server();
  Client client = make_client(server);
  Session session = connected_session(client);
  std::string path = fresh_path();

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
};

}  // namespace zklock::test

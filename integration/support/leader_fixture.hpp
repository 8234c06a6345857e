// What the tests of leaders begin with: two clients of one server.
#pragma once

#include "lock_fixture.hpp"
#include "operations.hpp"

#include <zklock/recipes/leader/leader_election.hpp>

#include <string>
#include <tuple>
#include <utility>

namespace zklock::test {

inline Leadership lead(const LeaderElection& election) {
  auto [error, leadership] =
      outcome_of_operation<Leadership>([&](auto token) { election.async_lead(30s, std::move(token)); });
  if (error) throw boost::system::system_error{error, "lead " + election.path()};
  return std::move(leadership);
}

inline error_code try_lead(const LeaderElection& election) {
  return std::get<0>(outcome_of_operation<Leadership>([&](auto token) { election.async_lead(0ms, std::move(token)); }));
}

inline error_code resign(Leadership& leadership) {
  return std::get<0>(outcome_of_operation<>([&](auto token) { leadership.async_resign(std::move(token)); }));
}

inline void end_session_of(testing::TestServer& server, const Session& session) {
  const SessionCredentials credentials = session.credentials();
  server.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
}

struct LeaderFixture : LockFixture {
  Client other = make_client(server);
};

}  // namespace zklock::test

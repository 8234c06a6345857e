// What the tests of semaphores share.
#pragma once

#include "fixture.hpp"

#include <zklock/recipes/locks/inter_process_semaphore.hpp>

namespace zklock::test {

inline Lease acquire(const InterProcessSemaphore& semaphore) {
  auto [error, lease] =
      outcome_of_operation<Lease>([&](auto token) { semaphore.async_acquire(30s, std::move(token)); });
  if (error) throw boost::system::system_error{error, "acquire " + semaphore.path()};
  return std::move(lease);
}

/// Whether nothing is left of a semaphore: no waiter, no permit, and no watch in the server.
inline bool semaphore_leaves_no_trace(const testing::TestServer& server, const Session& session,
                                      const std::string& path) {
  return leaves_no_trace(server, session, path + "/locks") && leaves_no_trace(server, session, path + "/leases");
}

}  // namespace zklock::test

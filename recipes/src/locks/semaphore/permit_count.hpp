// How many permits a semaphore has.
#pragma once

#include <zklock/client.hpp>
#include <zklock/detail/spawn.hpp>
#include <zklock/recipes/inter_process_semaphore.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <string>

namespace zklock {

/// So many; or, if there is a node, what that says, and where it is missing it is made to say so many.
struct PermitCount {
  std::int32_t number = 1;
  std::string node{};

  [[nodiscard]] bool is_shared() const noexcept { return !node.empty(); }
};

/// The number of now, and its version. `count` must outlive the call.
[[nodiscard]] Awaitable<Result<PermitNumber>> read_permits(ClientHandle client, const PermitCount& count);
/// Sets it, if it has that version, and makes the node where any version will do. `count` must outlive the call.
[[nodiscard]] Awaitable<Result<PermitNumber>> write_permits(ClientHandle client, const PermitCount& count,
                                                            PermitNumber permits);

/// The number of now, however often the link is lost. Error::invalid_data if the node says none. `count` must outlive
/// the call.
[[nodiscard]] Awaitable<Result<std::int32_t>> read_count(Session session, const PermitCount& count);

}  // namespace zklock

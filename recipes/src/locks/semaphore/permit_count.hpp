// The number of permits of a semaphore.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <string>

namespace zklock {

/// A fixed number; or, if `node` is set, the number that this node says. A missing node is created with `number`.
struct PermitCount {
  std::int32_t number = 1;
  std::string node{};

  [[nodiscard]] bool is_shared() const noexcept { return !node.empty(); }
};

/// The current number, and its version. `count` must outlive the call.
[[nodiscard]] Awaitable<Result<PermitNumber>> read_permits(ClientHandle client, const PermitCount& count);
/// Sets the number, if the node has that version; creates the node if any version will do. `count` must outlive the
/// call.
[[nodiscard]] Awaitable<Result<PermitNumber>> write_permits(ClientHandle client, const PermitCount& count,
                                                            PermitNumber permits);

/// The current number, however often the link is lost. Error::invalid_data if the node has no number. `count` must
/// outlive the call.
[[nodiscard]] Awaitable<Result<std::int32_t>> read_count(Session session, const PermitCount& count);

}  // namespace zklock

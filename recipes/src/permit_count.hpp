// How many permits a semaphore has.
#pragma once

#include <zklock/detail/spawn.hpp>
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

/// The number of now, however often the link is lost. Error::invalid_data if the node says none. `count` must outlive
/// the call.
[[nodiscard]] Awaitable<Result<std::int32_t>> read_count(Session session, const PermitCount& count);

}  // namespace zklock

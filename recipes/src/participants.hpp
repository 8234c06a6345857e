// Reading a lock's line.
#pragma once

#include <zklock/client.hpp>
#include <zklock/detail/spawn.hpp>
#include <zklock/recipes/inter_process_mutex.hpp>

#include <string>
#include <vector>

namespace zklock {

[[nodiscard]] Awaitable<Result<std::vector<Participant>>> list_participants(ClientHandle client, std::string directory);

}  // namespace zklock

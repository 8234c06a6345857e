// zklock revoke
#pragma once

#include "options.hpp"

namespace zklock::tools {

[[nodiscard]] int revoke(const RevokeOptions& options);

}  // namespace zklock::tools

// zklock run
#pragma once

#include "options.hpp"

namespace zklock::tools {

[[nodiscard]] int run(const RunOptions& options);

}  // namespace zklock::tools

// zklock count
#pragma once

#include "options.hpp"

namespace zklock::tools {

[[nodiscard]] int count(const CountOptions& options);

}  // namespace zklock::tools

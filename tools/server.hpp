// zklock server
#pragma once

#include "options.hpp"

namespace zklock::tools {

[[nodiscard]] int server(const ServerOptions& options);

}  // namespace zklock::tools

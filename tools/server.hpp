// zklock server
#pragma once

namespace zklock::tools {

[[nodiscard]] int server();

}  // namespace zklock::tools

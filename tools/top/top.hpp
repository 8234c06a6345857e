// zklock top
#pragma once

#include "options.hpp"

namespace zklock::tools {

/// False where the program was built without ncursesw: then there is no `zklock top`.
inline constexpr bool has_top = ZKLOCK_HAS_TOP != 0;

[[nodiscard]] int top(const TopOptions& options);

}  // namespace zklock::tools

// The processes that a process has started.
#pragma once

#include <vector>

#include <sys/types.h>

namespace zklock::tools {

/// The children of this process, their children, and so on, as /proc shows them at this moment. Ended processes that
/// have not been waited for are included; `spared` and their descendants are not. Empty if /proc cannot be read.
[[nodiscard]] std::vector<pid_t> descendants(const std::vector<pid_t>& spared = {});

}  // namespace zklock::tools

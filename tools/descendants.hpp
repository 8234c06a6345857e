// Processes and what they have started.
#pragma once

#include <vector>

#include <sys/types.h>

namespace zklock::tools {

/// The children of this process, theirs, and so on, as /proc shows them at this moment; ended ones that nobody has
/// waited for included; without `spared` and theirs. None where /proc cannot be read.
[[nodiscard]] std::vector<pid_t> descendants(const std::vector<pid_t>& spared = {});

}  // namespace zklock::tools

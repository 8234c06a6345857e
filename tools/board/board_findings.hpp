// What zklock doctor would find on a board: pure decisions.
#pragma once

#include "findings.hpp"

#include <vector>

namespace zklock::tools {

/// The findings of two surveys, `before` and `now`, which are `watched.wait` apart: problems first, then notes.
[[nodiscard]] std::vector<Finding> find_all(const Survey& before, const Survey& now, const Watched& watched);

}  // namespace zklock::tools

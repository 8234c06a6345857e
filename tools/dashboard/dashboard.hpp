// zklock dashboard
#pragma once

#include "options.hpp"

namespace zklock::tools {

[[nodiscard]] int dashboard(const DashboardOptions& options);

}  // namespace zklock::tools

// The table at the end.
#pragma once

#include "run.hpp"

#include <string>
#include <vector>

namespace shop {

void print_table(const std::vector<std::pair<std::string, Outcome>>& rows);

}  // namespace shop

// Reads the command line.
#pragma once

#include "options.hpp"

namespace zklock::tools {

/// There is nothing to do but to end with this status: help was given, or the usage was wrong and has been explained.
struct Done {
  int status = 0;
};

[[nodiscard]] std::variant<Options, Done> parse_command_line(int argc, char** argv);

}  // namespace zklock::tools

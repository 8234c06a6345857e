// Reads the command line.
#pragma once

#include "options.hpp"

namespace zklock::tools {

/// The program has only to end with this status: it has printed the help, or has explained the wrong usage.
struct Done {
  int status = 0;
};

[[nodiscard]] std::variant<Options, Done> parse_command_line(int argc, char** argv);

}  // namespace zklock::tools

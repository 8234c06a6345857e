// The command line of `zklock tree` and `zklock watch`.
#pragma once

#include "options.hpp"

#include <CLI/CLI.hpp>

namespace zklock::tools {

CLI::App* add_tree(CLI::App& app, TreeOptions& options);
CLI::App* add_watch(CLI::App& app, WatchOptions& options);

}  // namespace zklock::tools

// The command lines of zklock run and zklock lead.
#pragma once

#include "options.hpp"

#include <CLI/CLI.hpp>

namespace zklock::tools {

CLI::App* add_run(CLI::App& app, RunOptions& options);
CLI::App* add_lead(CLI::App& app, RunOptions& options);

}  // namespace zklock::tools

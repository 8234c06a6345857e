// What the subcommands' options have in common.
#pragma once

#include "options.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace zklock::tools {

void add_duration(CLI::App& app, const std::string& name, std::function<void(std::chrono::milliseconds)> set,
                  const std::string& help);
void add_where(CLI::App& app, Where& where);

CLI::App* add_tree(CLI::App& app, TreeOptions& options);
CLI::App* add_watch(CLI::App& app, WatchOptions& options);

}  // namespace zklock::tools

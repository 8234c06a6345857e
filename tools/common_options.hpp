// Options that several subcommands have.
#pragma once

#include "options.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace zklock::tools {

/// An option whose value is a duration, as 500ms.
void add_duration(CLI::App& app, const std::string& name, std::function<void(std::chrono::milliseconds)> set,
                  const std::string& help);

/// The options that tell where ZooKeeper is.
void add_where(CLI::App& app, Where& where);

}  // namespace zklock::tools

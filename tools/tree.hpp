// zklock tree, zklock watch
#pragma once

#include "options.hpp"

#include <zklock/recipes/caches/cache_event.hpp>

#include <chrono>
#include <string>

namespace zklock::tools {

[[nodiscard]] int tree(const TreeOptions& options);
[[nodiscard]] int watch(const WatchOptions& options);

/// A row for each node: its name, indented by its level, the session that owns it, its version and its data.
[[nodiscard]] std::string tree_to_table(const CacheSnapshot& nodes, const std::string& root);
/// A JSON array, in the order of the paths.
[[nodiscard]] std::string tree_to_json(const CacheSnapshot& nodes);

/// A line for a change, with its end; empty if there is nothing to say.
[[nodiscard]] std::string event_to_text(const CacheEvent& event);
[[nodiscard]] std::string event_to_json(const CacheEvent& event, std::chrono::system_clock::time_point now);

}  // namespace zklock::tools

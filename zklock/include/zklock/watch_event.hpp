// The event of a watch.
#pragma once

#include <cstdint>
#include <string>

namespace zklock {

/// What is watched of a node. The servers keep the two apart.
enum class WatchKind : std::uint8_t { data, children };

enum class WatchEventType { node_created, node_deleted, node_data_changed, node_children_changed };

/// The event of a watch. It is a hint: it may stand for several changes, and later changes may have followed. Read
/// again.
struct WatchEvent {
  WatchEventType type = WatchEventType::node_deleted;
  std::string path;
};

}  // namespace zklock

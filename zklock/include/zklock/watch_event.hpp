// The event of a watch.
#pragma once

#include <string>

namespace zklock {

enum class WatchEventType { node_created, node_deleted, node_data_changed, node_children_changed };

/// The event of a watch. It is a hint: it may stand for several changes, and later changes may have followed. Read
/// again.
struct WatchEvent {
  WatchEventType type = WatchEventType::node_deleted;
  std::string path;
};

}  // namespace zklock

// What Follow reads: the data of a node, or the list of its children.
#pragma once

#include <zklock/watch_event.hpp>

#include <string>

namespace zklock {

struct Item {
  WatchKind kind = WatchKind::data;
  std::string path{};

  friend auto operator<=>(const Item&, const Item&) = default;
};

}  // namespace zklock

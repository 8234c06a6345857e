// What Follow reads: one aspect of one node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace zklock {

/// The servers keep a watch for each of them apart.
enum class Aspect : std::uint8_t { data, children };

struct Item {
  Aspect aspect = Aspect::data;
  std::string path{};

  friend auto operator<=>(const Item&, const Item&) = default;
};

struct ItemHash {
  std::size_t operator()(const Item& item) const noexcept {
    return std::hash<std::string>{}(item.path) * 2 + static_cast<std::size_t>(item.aspect);
  }
};

}  // namespace zklock

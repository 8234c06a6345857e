// What a cache holds, and what it tells.
#pragma once

#include <zklock/error.hpp>
#include <zklock/stat.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace zklock {

/// A node as a cache knows it. Immutable.
struct ChildData {
  std::string path;
  std::string data;    ///< empty if the cache keeps none, or if there is an error
  Stat stat;           ///< as of the last read of the data
  error_code error{};  ///< why the node cannot be read: mostly no_auth; invalid_data if it cannot be decompressed

  friend bool operator==(const ChildData&, const ChildData&) = default;
};

using ChildDataPtr = std::shared_ptr<const ChildData>;

/// The nodes of a cache by path: parents come before their children. Each node is as of its own last read: the whole
/// need never have been there at one time, and half of a transaction may show.
using CacheSnapshot = std::map<std::string, ChildDataPtr>;

struct CacheEvent {
  enum class Type {
    created,
    changed,
    deleted,
    unreadable,   ///< the node is there, and `now->error` says why it cannot be read
    initialized,  ///< all that was there at the beginning was told
    live,         ///< from now on the cache is up to date
    stale,        ///< the link is lost: what follows may be late
    reset         ///< the servers have lost what they had: forget everything; what is there now follows
  };

  Type type = Type::initialized;
  std::string path{};        ///< empty for the last four
  ChildDataPtr before{};     ///< null: there was none
  ChildDataPtr now{};        ///< null: there is none
  std::int64_t skipped = 0;  ///< versions of the node that this reader is not shown
};

[[nodiscard]] constexpr std::string_view to_string(CacheEvent::Type type) noexcept {
  switch (type) {
    case CacheEvent::Type::created: return "created";
    case CacheEvent::Type::changed: return "changed";
    case CacheEvent::Type::deleted: return "deleted";
    case CacheEvent::Type::unreadable: return "unreadable";
    case CacheEvent::Type::initialized: return "initialized";
    case CacheEvent::Type::live: return "live";
    case CacheEvent::Type::stale: return "stale";
    case CacheEvent::Type::reset: return "reset";
  }
  return "unknown";
}

}  // namespace zklock

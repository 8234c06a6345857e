// A node's metadata.
#pragma once

#include <chrono>
#include <cstdint>

namespace zklock {

/// A node's metadata, as the server sent it. Times are those of the server's wall clock.
struct Stat {
  std::int64_t czxid = 0;  ///< the transaction that created the node: the only number here that only ever grows
  std::int64_t mzxid = 0;  ///< the transaction that last changed its data
  std::int64_t pzxid = 0;  ///< the transaction that last changed its list of children
  std::chrono::system_clock::time_point created;
  std::chrono::system_clock::time_point modified;
  std::int32_t version = 0;          ///< changes of the data
  std::int32_t cversion = 0;         ///< changes of the children
  std::int32_t aversion = 0;         ///< changes of the ACL
  std::int64_t ephemeral_owner = 0;  ///< the session that owns the node; 0 unless it is ephemeral
  std::int32_t data_length = 0;      ///< bytes
  std::int32_t num_children = 0;

  friend bool operator==(const Stat&, const Stat&) = default;
};

}  // namespace zklock

// A value, and which one of a node's values it is.
#pragma once

#include <zklock/error.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace zklock {

/// Curator's VersionedValue.
template <class T>
struct VersionedValue {
  T value{};
  std::int32_t version = 0;
  std::int64_t mzxid = 0;  ///< the transaction that wrote it
  std::int64_t czxid = 0;  ///< the transaction that created the node: versions begin again with each node

  VersionedValue() = default;
  VersionedValue(T of, std::int32_t with_version, std::int64_t with_mzxid = 0, std::int64_t with_czxid = 0)
      : value{std::move(of)}, version{with_version}, mzxid{with_mzxid}, czxid{with_czxid} {}
};

/// What has come of a compare-and-set.
template <class T>
struct Exchange {
  bool is_set = false;
  /// The node is not the one that `previous` was read from: it was deleted and created again. A new node with the same
  /// version is written all the same, since the servers compare versions only.
  bool is_another_node = false;
  /// The value that is there now: the new one, or the one that was in the way. Empty: there is no node.
  std::optional<VersionedValue<T>> current{};
};

/// A change of a shared value.
template <class T>
struct ValueChange {
  std::optional<VersionedValue<T>> value{};  ///< empty: there is no node, or `error` says why there is no value
  std::int64_t skipped = 0;                  ///< versions of the node that this stream does not show
  error_code error{};                        ///< no_auth, or invalid_data
};

}  // namespace zklock

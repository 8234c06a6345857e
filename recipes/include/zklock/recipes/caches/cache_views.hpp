// The older caches of Curator, as views of CuratorCache.
#pragma once

#include <zklock/recipes/caches/curator_cache.hpp>

#include <string>
#include <utility>

namespace zklock {

/// One node: Curator's NodeCache.
class NodeCache : public CuratorCache {
 public:
  NodeCache(const ClientHandle& client, std::string path, CacheOptions options)
      : CuratorCache{client, std::move(path), options.depth(0)} {}
  NodeCache(const ClientHandle& client, std::string path) : NodeCache{client, std::move(path), CacheOptions{}} {}
  /// A temporary Client would be closed at once.
  template <class... Rest>
  NodeCache(Client&&, Rest&&...) = delete;

  /// The node; null if there is none.
  [[nodiscard]] ChildDataPtr current() const { return get(path()); }
};

/// The children of one node, without the node itself: Curator's PathChildrenCache. It does not create the node.
class PathChildrenCache : public CuratorCache {
 public:
  PathChildrenCache(const ClientHandle& client, std::string path, CacheOptions options)
      : CuratorCache{client, std::move(path), options.depth(1).without_root()} {}
  PathChildrenCache(const ClientHandle& client, std::string path)
      : PathChildrenCache{client, std::move(path), CacheOptions{}} {}
  /// A temporary Client would be closed at once.
  template <class... Rest>
  PathChildrenCache(Client&&, Rest&&...) = delete;

  /// The children, by name.
  [[nodiscard]] std::map<std::string, ChildDataPtr> current() const { return children(path()); }
};

/// A node and all that is below it: Curator's TreeCache.
using TreeCache = CuratorCache;

}  // namespace zklock

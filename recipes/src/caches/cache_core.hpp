// The nodes of a cache, and what becomes of them.
#pragma once

#include "cache_merging.hpp"
#include "follow.hpp"

#include <zklock/recipe_kit/event_queue.hpp>
#include <zklock/recipe_kit/recipe_core.hpp>
#include <zklock/recipes/caches/curator_cache.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace zklock::detail {

/// Threads: the serial executor, unless marked; nodes and subscribers change under a mutex.
class CacheCore final : public RecipeCore, public Follower, public std::enable_shared_from_this<CacheCore> {
 public:
  CacheCore(const ClientHandle& client, std::string path, CacheOptions options);
  ~CacheCore() override;

  // any thread
  void start() { follow_->start(weak_from_this()); }
  void stop() { follow_->stop(); }
  [[nodiscard]] ChildDataPtr get(const std::string& path) const;
  [[nodiscard]] std::map<std::string, ChildDataPtr> children(const std::string& path) const;
  [[nodiscard]] std::shared_ptr<const CacheSnapshot> snapshot() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] CacheEvents subscribe();
  [[nodiscard]] Follow& follow() const noexcept { return *follow_; }

 private:
  /// A node, and what its last list of children was as of. Its children are those of the list that are followed: no
  /// names are kept. Only the path orders the nodes, which is kept once, in the data.
  struct Node {
    explicit Node(const std::string& path) : data{std::make_shared<const ChildData>(ChildData{path, {}, {}})} {}

    [[nodiscard]] const std::string& path() const noexcept { return data->path; }
    [[nodiscard]] ChildDataPtr shown() const { return is_known ? data : nullptr; }

    mutable ChildDataPtr data;             // nothing but the path until it is known
    mutable bool is_known = false;         // it was read, or could not be
    mutable std::int64_t list_czxid = -1;  // -1: there is no list
    mutable std::int64_t list_pzxid = -1;
  };
  struct ByPath {
    using is_transparent = void;
    static const std::string& path_of(const Node& node) noexcept { return node.path(); }
    static const std::string& path_of(const std::string& path) noexcept { return path; }
    bool operator()(const auto& left, const auto& right) const noexcept { return path_of(left) < path_of(right); }
  };
  using Nodes = std::set<Node, ByPath>;

  void on_data(const std::string& path, DataResult data) override;
  void on_children(const std::string& path, ChildrenResult children) override;
  void on_absent(const Item& item) override;
  void on_unreadable(const Item& item, error_code error) override;
  void on_initialized() override;
  void on_freshness(const Freshness& freshness) override;
  void on_end(error_code reason) override;

  [[nodiscard]] ChildDataPtr make_data(const std::string& path, DataResult data) const;
  [[nodiscard]] bool follows_children(const std::string& path, const Stat& stat) const;
  const Node& node_at(const std::string& path);
  [[nodiscard]] Nodes::const_iterator child_from(Nodes::const_iterator at, const std::string& prefix) const;
  void show(const Node& node, ChildDataPtr now);
  void name_child(const std::string& path);
  void remove_below(const std::string& path);
  void remove(Nodes::const_iterator node);
  void remove_with_all_below(Nodes::const_iterator node);
  void begin_anew();
  [[nodiscard]] bool is_shown(const std::string& path) const { return options_.has_root() || path != this->path(); }

  CacheOptions options_;
  std::shared_ptr<Follow> follow_;

  mutable std::mutex mutex_;  // of what follows
  Nodes nodes_;
  std::size_t shown_ = 0;
  mutable std::shared_ptr<const CacheSnapshot> snapshot_;
  EventQueues<CacheEvent> subscribers_;
  bool initialized_ = false;
  Freshness::State freshness_ = Freshness::State::loading;
  std::optional<error_code> end_;
};

}  // namespace zklock::detail

// The fake ensemble's nodes: what ZooKeeper's PrepRequestProcessor and DataTree (3.8) do with a request.
#pragma once

#include "driver.hpp"
#include "fake_acl.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zklock::testing::fake {

/// The server's wall clock.
using WallTime = std::chrono::system_clock::time_point;

/// The client of a request.
struct Caller {
  std::int64_t session = 0;
  Identities identities{};
};

/// A change that may fire watches, in the order in which the server looks for them.
struct Change {
  WatchEventType type;
  std::string path;
  Acl acl{};  ///< the node's, if it was deleted
};
using Changes = std::vector<Change>;

/// Pure except for its own state: time and callers come from outside.
class Tree {
 public:
  struct Node {
    std::string data{};
    Acl acl{};
    Stat stat{};  ///< cversion counts only the creations of children, as inside the server
    std::chrono::milliseconds ttl{0};
    std::set<std::string> children{};  ///< names
  };

  Tree(bool extended_types, bool refuses_exists);

  /// Carries out one transaction. It has a number of its own whether it succeeds or not.
  Reply write(const Request& request, const Caller& caller, WallTime now, Changes& changes);
  [[nodiscard]] Reply read(const Request& request, const Caller& caller) const;
  /// Sessions begin and end by transactions, too.
  void take_number() noexcept { ++zxid_; }
  void end_session(std::int64_t session, Changes& changes);

  /// When the next node is due to be removed, if nothing changes until then; empty: never.
  [[nodiscard]] std::optional<WallTime> next_reaping() const;
  /// Deletes empty containers, and nodes whose time to live has passed.
  void reap(WallTime now, Changes& changes);

  /// Deletes a node as an operator; false if that is not possible.
  bool force_remove(const std::string& path, Changes& changes);
  bool force_data(const std::string& path, std::string data, WallTime now, Changes& changes);

  [[nodiscard]] const Node* find(const std::string& path) const;
  [[nodiscard]] static Stat stat_of(const Node& node);
  [[nodiscard]] const std::map<std::string, Node>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::int64_t zxid() const noexcept { return zxid_; }

 private:
  Reply apply(const Request& request, const Caller& caller, WallTime now, Changes& changes);
  Reply create(const Request& request, const Caller& caller, WallTime now, Changes& changes);
  Reply remove(const Request& request, const Caller& caller, Changes& changes);
  Reply set_data(const Request& request, const Caller& caller, WallTime now, Changes& changes);
  Reply set_acl(const Request& request, const Caller& caller);
  Reply check(const Request& request, const Caller& caller);
  Reply multi(const Request& request, const Caller& caller, WallTime now, Changes& changes);
  void put(const std::string& path, Node node);
  void erase(const std::string& path, Changes& changes);
  Node* find(const std::string& path);

  std::map<std::string, Node> nodes_;
  std::set<std::string> mortals_;  ///< paths of containers, and nodes with a time to live, that have no children
  std::int64_t zxid_ = 0;
  bool extended_types_;
  bool refuses_exists_;
};

}  // namespace zklock::testing::fake

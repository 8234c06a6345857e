// The node of a lock that its client has, and what lives as long as the node.
#pragma once

#include "local_queue.hpp"
#include "path_use.hpp"

#include <zklock/recipe_kit/protected_path.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/session.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace zklock::detail {

/// Threads: the session's executor, except session() and node().
class NodePlace {
 public:
  NodePlace(Session session, CreateResult node) noexcept : session_{std::move(session)}, node_{std::move(node)} {}

  [[nodiscard]] const Session& session() const noexcept { return session_; }
  [[nodiscard]] const CreateResult& node() const noexcept { return node_; }
  [[nodiscard]] const std::shared_ptr<LocalWaiter>& local_waiter() const noexcept { return local_waiter_; }

  /// Keeps the share of the path's use until the delete is sent.
  void keep(PathShare share) noexcept { share_ = std::move(share); }
  /// Sets the local waiter that belongs to the node, and is granted now.
  void set_local_waiter(std::shared_ptr<LocalWaiter> local_waiter, std::weak_ptr<NodeHolder> holder);
  /// A leader may make a second node of the attempt late: it is looked for when this one is deleted. Null: none.
  void expect_late_node(std::shared_ptr<const ProtectedPath> late_node) noexcept { late_node_ = std::move(late_node); }
  /// The node was found to be gone.
  void mark_deleted();

  /// Deletes the node, beginning within this call. `removed` is told as by remove_in_background().
  void remove(std::function<void(error_code)> removed);

 private:
  /// One waiter, or several readers behind a writer.
  using Successors = std::vector<std::shared_ptr<LocalWaiter>>;

  /// Tells the client's other nodes that this one is leaving; gives those that wait for it.
  [[nodiscard]] Successors depart();
  /// Deletes the node in one request, if the nodes of its successors exist; each successor is told whether its own node
  /// does. If that fails, the node is deleted all the same.
  ///
  /// If an operator has deleted a successor's node, the successor knows it before the delete lets another client in, as
  /// long as the link is up. If there are several such successors, the first one knows it then, the others soon after.
  void hand_off(Successors successors, std::function<void(error_code)> removed) const;

  Session session_;
  CreateResult node_;
  PathShare share_;  // until the delete is sent
  std::shared_ptr<LocalWaiter> local_waiter_;
  std::shared_ptr<const ProtectedPath> late_node_;
};

}  // namespace zklock::detail

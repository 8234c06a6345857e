// A member of a double barrier: its node, from the create to the delete.
#pragma once

#include "double_barrier_steps.hpp"
#include "limits.hpp"
#include "session_hold.hpp"

#include <zklock/recipe_kit/recipe_core.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/barriers/distributed_double_barrier.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace zklock::detail {

class DoubleBarrierCore : public RecipeCore {
 public:
  DoubleBarrierCore(const ClientHandle& client, std::string path, int quantity);

  [[nodiscard]] std::size_t quantity() const noexcept { return quantity_; }
  [[nodiscard]] const std::string& ready() const noexcept { return ready_; }

 private:
  std::size_t quantity_;
  std::string ready_;
};

/// Where a member's node is.
struct MemberNode {
  /// A node of another name for each enter.
  MemberNode(std::shared_ptr<const DoubleBarrierCore> of, Session on);

  std::shared_ptr<const DoubleBarrierCore> barrier;
  Session session;
  std::string path;
  bool was_lost = false;  ///< the reply to a create was: a leader may carry it out late
};

/// Deletes the node, beginning within this call.
void remove_in_background(const MemberNode& node);
/// To be called once it is deleted: a leader of 3.8.0 may carry out a create whose reply was lost even then [F16b].
void expect_late_node(const MemberNode& node);

/// A member that is in.
///
/// Threads: the functions marked so, any; the others on the session's executor.
class BarrierMember {
 public:
  BarrierMember(MemberNode node, BarrierRound round)
      : node_{std::move(node)}, round_{round}, hold_{SessionHold::begin(node_.session)} {}

  // any thread
  [[nodiscard]] const MemberNode& node() const noexcept { return node_; }
  [[nodiscard]] const BarrierRound& round() const noexcept { return round_; }
  [[nodiscard]] const std::shared_ptr<SessionHold>& hold() const noexcept { return hold_; }
  [[nodiscard]] bool has_left() const noexcept { return left_; }
  /// True for the caller that leaves, and only once.
  [[nodiscard]] bool begin_to_leave() noexcept { return !left_.exchange(true); }

 private:
  MemberNode node_;
  BarrierRound round_;
  std::shared_ptr<SessionHold> hold_;
  std::atomic<bool> left_{false};
};

[[nodiscard]] Awaitable<Result<BarrierMembership>> enter(std::shared_ptr<const DoubleBarrierCore> barrier,
                                                         Limits limits);
[[nodiscard]] Awaitable<error_code> leave(std::shared_ptr<BarrierMember> member);

}  // namespace zklock::detail

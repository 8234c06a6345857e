// One attempt's node in a wait queue, from the moment at which it may exist until it certainly does not.
#pragma once

#include "local_queue.hpp"
#include "queue_position.hpp"

#include <zklock/recipe_kit/protected_path.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/lock_node.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

using Children = std::vector<std::string>;

/// What is known of the queue once a node is in it.
struct Enqueued {
  LocalPosition position{};
  Children children{};  ///< the list of the queue; empty: the node's number tells the position
};

/// One attempt's node: "<directory>/_c_<uuid>-<prefix><marker><sequence>". The UUID is the attempt's own, so that the
/// node is found again after a lost reply, and so that no late delete can hit another attempt's node.
///
/// `marker` has static storage duration. With `number` the node has the queue position of the node with that sequence
/// number, rather than the end of the queue. The prefix is the recipe's own, and no part of the order.
///
/// If it is destroyed without detach(), the attempt leaves the queue: the node is deleted, now or as soon as it turns
/// out to exist.
/// Threads: the session's executor.
class QueueNode {
 public:
  QueueNode(Session session, std::string directory, std::string_view marker, std::string data, std::string number = {},
            const std::string& prefix = {});
  ~QueueNode();
  QueueNode(QueueNode&&) = delete;

  /// Makes this node known to the client's other nodes.
  void join_local_queue(std::shared_ptr<LocalQueue> local_queue, LockKind kind);
  /// Keeps `thing` until the node is certain not to exist, or is a lease's.
  void keep_alive(std::shared_ptr<const void> thing);

  /// Gets the node into the queue, and finds its position: by its number, or by a list of the queue in the same flight.
  /// Creates the directory if it is missing, and finds the node again if a reply was lost.
  ///
  /// The list may be old if the server is behind others, but is never older than the node, since the reply to its
  /// create is there: the list has all nodes ahead, and perhaps some that are gone by now.
  ///
  /// What it finds goes to the caller's `found`, of which the frames of coroutines would keep more copies.
  [[nodiscard]] Awaitable<error_code> enqueue(LockNaming naming, Enqueued& found);

  // ---- its steps

  /// Creates of acquires that have ended are under way: to be waited for before request().
  [[nodiscard]] bool has_abandoned_ahead() const;
  [[nodiscard]] Awaitable<error_code> wait_for_abandoned() const;

  /// Sends the create. Its outcome is known when the reply to a request sent after it is there.
  void request();
  /// After a create that failed: finds the node if it was created after all, or does what gives another request a
  /// chance.
  [[nodiscard]] Awaitable<error_code> prepare_retry(LockNaming naming, int& rounds_left);
  /// After an ambiguous outcome: finds the node if it was created after all.
  [[nodiscard]] Awaitable<error_code> recover();

  // ---- what is known of it

  /// The outcome of the last request; success: the node is in the queue.
  [[nodiscard]] error_code error() const;
  [[nodiscard]] bool is_enqueued() const;
  /// The node, with the digits that the server appended to its name.
  [[nodiscard]] const CreateResult& node() const;
  [[nodiscard]] std::string name() const;
  /// std::nullopt: the server's reply is malformed.
  [[nodiscard]] std::optional<std::int32_t> sequence() const;
  /// What the client's other nodes know of this one.
  [[nodiscard]] const std::shared_ptr<LocalWaiter>& local_waiter() const;
  /// The client's node with the number before this one's, as of the reply to the create.
  [[nodiscard]] const LocalQueue::RightAhead& right_ahead() const;
  /// What a list of the queue tells of the node, which has joined the local queue: what a handoff has told before counts
  /// no more. Like on_listed() besides.
  [[nodiscard]] Enqueued read_list(LockNaming naming, Children children) const;
  /// A list of the directory: deletes second nodes of attempts that a leader has made late.
  void on_listed(const Children& children) const;
  /// The name of a second node of this attempt that a leader may make late; null: none will come.
  [[nodiscard]] std::shared_ptr<const ProtectedPath> late_node() const;
  /// When the create was sent.
  [[nodiscard]] LocalQueue::Moment requested_at() const;

  /// Makes the node a lease's.
  CreateResult detach();

 private:
  struct State;
  /// The position by the node's number, once the reply to the create is there; false: it does not tell.
  [[nodiscard]] bool is_found_by_number(Enqueued& found) const;
  /// Waits for the reply to the create alone.
  [[nodiscard]] Awaitable<error_code> answered();

  std::shared_ptr<State> state_;
};

}  // namespace zklock

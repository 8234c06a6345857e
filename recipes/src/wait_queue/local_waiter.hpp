// One of the client's own nodes in a wait queue: whether it is still there, which local waiters wait for it, and what
// the handoffs to it and from it tell.
#pragma once

#include "handoff.hpp"
#include "queue_position.hpp"

#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/protected_path.hpp>
#include <zklock/recipes/locks/lock_kind.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zklock {

class LocalQueue;

/// The lease of a local waiter's node.
class NodeHolder {
 public:
  virtual ~NodeHolder() = default;
  /// The node is gone: an operator has deleted it.
  virtual void on_node_deleted() = 0;
  /// What the handoff to the node has told, later than LocalWaiter::on_granted().
  virtual void act_on(HandoffAction action) = 0;
};

/// It stays a LocalWaiter when it is granted, until it has left: the holder's node is one, too.
///
/// Threads: the session's executor.
class LocalWaiter {
 public:
  LocalWaiter(std::weak_ptr<LocalQueue> all, std::int64_t session, LockKind kind, std::int32_t sequence,
              CreateResult node) noexcept
      : all_{std::move(all)},
        session_{session},
        kind_{kind},
        sequence_{sequence},
        path_{std::move(node.path)},
        czxid_{node.stat.czxid} {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] LockKind kind() const noexcept { return kind_; }
  /// Its client gives its node back: the delete is sent, or about to be.
  [[nodiscard]] bool has_left() const noexcept { return left_at_ != 0; }
  /// It has, or had, the lock, and no other client has deleted its node.
  [[nodiscard]] bool was_granted() const noexcept { return presence_ == Presence::granted; }

  // ---- its position in the queue

  void grant(std::weak_ptr<NodeHolder> holder = {}) noexcept {
    if (presence_ == Presence::waiting) presence_ = Presence::granted;
    holder_ = std::move(holder);
  }
  [[nodiscard]] bool is_deleted() const noexcept { return presence_ == Presence::deleted; }
  /// It has left since that moment of the local queue.
  [[nodiscard]] bool has_left_since(std::uint64_t moment) const noexcept { return left_at_ > moment; }
  /// What it tells a node behind it that was requested at that moment.
  [[nodiscard]] AheadState seen_since(std::uint64_t moment) const;
  /// Notes that its node was deleted, but not by this client: it is no predecessor any more, and the local waiters that
  /// waited for it list the queue again.
  void mark_deleted();
  /// The same, for a node that was found to be gone: its holder is told.
  void on_deleted();
  /// It leaves the queue. The caller sends its delete in this iteration of the executor if there is a link. Its local
  /// waiters wake in a later iteration, so that the server receives their requests after the delete; without a link
  /// they list the queue.
  void dequeue_and_wake(const asio::any_io_executor& executor);

  /// `waiter` waits for this one from now on. The event happens when this one has left the queue, when its node was
  /// deleted by others, and when the session has ended.
  [[nodiscard]] static std::shared_ptr<AsyncEvent> add_waiter(const std::shared_ptr<LocalWaiter>& self,
                                                              const Session& session,
                                                              std::weak_ptr<LocalWaiter> waiter);

  /// The local waiter that it waits for, if that one is still in the queue.
  [[nodiscard]] std::shared_ptr<LocalWaiter> waits_for() const;

  /// Its node is deleted. A list of the directory may yet show a second one of its attempt.
  void expect_late_node(const Session& session, std::shared_ptr<const ProtectedPath> attempt) const;

  // ---- the handoff to it

  /// It looks at the queue: what it has learned before says nothing about the grant that follows.
  void forget_handoff() noexcept { handoff_ = {}; }
  /// It has the lock. What its lease is to do now; if that is not known yet, its holder is told later.
  [[nodiscard]] HandoffAction on_granted() noexcept { return handoff_.on_granted(); }
  /// The reply to its predecessor's delete.
  void learn(NodeFact fact);

  // ---- the handoff from it

  /// The local waiters that wait for this one, up to max_successors of them and max_bytes of paths; the others learn
  /// nothing, and ask the server. The caller must soon call learn() of each of them. One that gives up meanwhile does
  /// no harm: its delete goes out behind the check of its node.
  [[nodiscard]] std::vector<std::shared_ptr<LocalWaiter>> take_successors();

 private:
  friend class LocalQueue;
  enum class Presence { waiting, granted, deleted };
  struct Waiter {
    std::weak_ptr<AsyncEvent> wake_up;
    std::weak_ptr<LocalWaiter> local_waiter;
  };
  void sweep_waiters();
  void wake() const;

  static constexpr std::size_t max_successors = 256;
  static constexpr std::size_t max_bytes = 30'000;  // of the megabyte that a server accepts in one request

  std::weak_ptr<LocalQueue> all_;
  std::int64_t session_;
  LockKind kind_;
  std::int32_t sequence_;
  std::string path_;
  std::int64_t czxid_;
  bool is_beside_ = false;  // it has the number of its owner's writer
  std::weak_ptr<NodeHolder> holder_;

  Presence presence_ = Presence::waiting;
  std::uint64_t left_at_ = 0;  // a moment of the local queue; 0: it is still there
  std::weak_ptr<LocalWaiter> waits_for_;
  std::vector<Waiter> waiters_;
  std::size_t next_sweep_ = 0;  // the number of waiters at which those that have given up are swept

  Handoff handoff_;
};

}  // namespace zklock

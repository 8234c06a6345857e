// The node of a lock that its client may keep when the lock is released: its watch, its timer and its end.
#pragma once

#include "client_node.hpp"
#include "lock_target.hpp"
#include "node_place.hpp"

#include <zklock/recipe_kit/shared_state.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/session.hpp>
#include <zklock/session_renewal.hpp>
#include <zklock/timer.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zklock::detail {

/// The nodes that a client holds to keep, or keeps. Each has a watch, and all watches of a session share one packet when
/// the link comes back, so there is a limit.
///
/// Threads: the client's executor.
struct KeptLockNodes {
  static constexpr int max_number = 1'000;
  int number = 0;

  [[nodiscard]] static std::shared_ptr<KeptLockNodes> of(const ClientHandle& client) {
    return client.shared_state().keep<KeptLockNodes>();
  }
};

/// From the grant to the acquire that made the node until its delete is sent. The list of that acquire has set a watch
/// on the directory's children. Twice in `keep` the queue is listed again, and watched anew, so that a lost event holds
/// up another client for no longer, and so does a node that nobody uses; the node's data is read then, too. Whatever
/// ends the proof asks for the node. Classes derived from it say when it is granted, and what an event and a list tell.
///
/// Its timer owns it, and held locks; both own the lock.
/// Threads: the functions marked so, any; the others on the session's executor.
class WatchedNode : public std::enable_shared_from_this<WatchedNode>,
                    public LapseListener,
                    public NodeHolder,
                    public ClientNode {
 public:
  /// Set by a list of the directory's children.
  struct ListWatch {
    Watch watch{};
    std::uint64_t connection = 0;  ///< on which both were requested
  };

  void own(PathShare share, std::shared_ptr<LocalWaiter> local_waiter) {
    place_.keep(std::move(share));
    place_.set_local_waiter(std::move(local_waiter), weak_from_this());
  }

  // ---- any thread

  [[nodiscard]] const std::shared_ptr<LockTarget>& lock() const noexcept { return lock_; }
  [[nodiscard]] const Session& session() const noexcept { return place_.session(); }
  [[nodiscard]] const CreateResult& node() const noexcept { return place_.node(); }
  /// On the connection on which the watch was set, with a third of the session timeout to come: it may be granted
  /// without a request.
  [[nodiscard]] bool is_fresh() const noexcept;
  /// It was found to be gone.
  [[nodiscard]] bool is_gone() const noexcept { return is_gone_; }
  /// Deletes the node. `removed` is told as by HeldLock::remove().
  void remove(std::function<void(error_code)> removed) override;
  /// It is not kept any longer.
  virtual void ask() = 0;

  // ---- the session's executor

  void lose() override;

 protected:
  WatchedNode(std::shared_ptr<LockTarget> lock, Clock::duration keep, NodePlace place, ListWatch first);
  /// Once, when a shared pointer owns it.
  void begin();
  /// Ends what is under way: the delete is about to be sent.
  virtual void stop();
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }

  // ---- any thread

  [[nodiscard]] bool is_on_its_connection() const noexcept;
  /// At the end of that lease.
  [[nodiscard]] bool may_keep(const HeldLock& held_lock) const noexcept;
  void note_use() noexcept { was_used_ = true; }

  // ---- what asks for it

  /// Nothing has happened that the watch would tell.
  [[nodiscard]] bool is_watched() const noexcept { return is_on_its_connection() && watch_.is_set(); }
  /// The watch before is not heard any more.
  void replace_watch(Watch watch);
  void listen();
  virtual void list();

 private:
  /// Those that have the lock by it.
  [[nodiscard]] virtual std::vector<std::shared_ptr<HeldLock>> holders() const = 0;
  /// An acquire has the lock by it, or is about to.
  [[nodiscard]] virtual bool is_held() const = 0;
  virtual void on_event(error_code error, const WatchEvent& event) = 0;
  virtual void on_children(error_code error, const std::vector<std::string>& children, Watch watch) = 0;

  void on_lapse() override;
  void on_link(SessionState state) override;
  void on_node_deleted() override { lose(); }
  void act_on(HandoffAction) override {}  // it was not handed off
  void wait_to_look();
  void look();
  void on_data(error_code error, const DataResult& node);

  std::shared_ptr<LockTarget> lock_;
  Clock::duration keep_;
  NodePlace place_;
  std::uint64_t connection_;
  Watch watch_;
  std::uint64_t watch_number_ = 0;
  std::optional<SessionRenewal> renewal_;
  Timer timer_;
  std::shared_ptr<KeptLockNodes> all_;
  bool is_over_ = false;
  std::atomic<bool> is_gone_{false};
  std::atomic<bool> was_used_{true};  // since the queue was looked at
};

/// To be called once the held lock is known as a holder of the node: it may have come too late to hear that the node is
/// gone. Any thread.
void lose_if_gone(const WatchedNode& node, const std::shared_ptr<HeldLock>& held_lock);

}  // namespace zklock::detail

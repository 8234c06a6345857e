// A node that its client may keep when the lock is released: it is granted to one local acquire after the other.
#pragma once

#include "client_node.hpp"
#include "held_lock.hpp"
#include "kept_lock.hpp"
#include "lock_target.hpp"
#include "node_place.hpp"

#include <zklock/recipe_kit/shared_state.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/lock_kind.hpp>
#include <zklock/session.hpp>
#include <zklock/session_renewal.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
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

/// From the grant to the acquire that made the node until its delete is sent. A watch on the directory's children asks
/// for it, and so does whatever ends the proof. The queue is listed again, and watched anew, twice in `keep`,
/// so that a lost event holds up another client for no longer, and so does a node that nobody uses.
///
/// Its timer owns it, and leases; both own the lock.
/// Threads: the functions marked so, any; the others on the session's executor.
class KeptLockNode : public std::enable_shared_from_this<KeptLockNode>,
                     public LapseListener,
                     public NodeHolder,
                     public ClientNode {
 public:
  /// What an acquire has found that is alone in the queue: the list with which it set the watch shows only its node.
  struct Alone {
    Watch watch{};
    std::uint64_t connection = 0;  ///< on which both were requested
  };

  /// `lock` owns `kept_lock`.
  [[nodiscard]] static std::shared_ptr<KeptLockNode> make(std::shared_ptr<LockTarget> lock, KeptLock& kept_lock,
                                                          LockKind kind, Clock::duration keep, NodePlace place,
                                                          Alone alone);
  KeptLockNode(std::shared_ptr<LockTarget> lock, KeptLock& kept_lock, LockKind kind, Clock::duration keep,
               NodePlace place, Alone alone);

  void own(PathShare share, std::shared_ptr<LocalWaiter> local_waiter) {
    place_.keep(std::move(share));
    place_.set_local_waiter(std::move(local_waiter), weak_from_this());
  }

  // ---- any thread

  [[nodiscard]] const std::shared_ptr<LockTarget>& lock() const noexcept { return lock_; }
  [[nodiscard]] LockKind kind() const noexcept { return kind_; }
  [[nodiscard]] const Session& session() const noexcept { return place_.session(); }
  [[nodiscard]] const CreateResult& node() const noexcept { return place_.node(); }
  [[nodiscard]] std::int64_t token() const noexcept { return token_; }
  [[nodiscard]] std::int32_t version() const noexcept { return version_; }

  /// On the connection on which the watch was set, with a third of the session timeout to come: it may be granted
  /// without a request.
  [[nodiscard]] bool is_fresh() const noexcept;
  /// That lease has it now.
  void hold(const std::shared_ptr<HeldLock>& held_lock);
  /// The lease has ended: the node is kept, or given to the next acquire. True: neither, and remove() is to be called.
  [[nodiscard]] bool take_back(const HeldLock& held_lock) override;
  /// The same, where the acquire that was let in makes no lease; the node is deleted.
  void take_back_unused(bool may_keep);
  /// Deletes the node. `removed` is told as by HeldLock::remove().
  void remove(std::function<void(error_code)> removed) override;

  // ---- the session's executor

  /// Whether it may be granted to the acquire that has taken it. Asks the server if it is to be confirmed, if another
  /// client has asked for it, or if the session is not certain to live for long.
  [[nodiscard]] static Awaitable<bool> prove(std::shared_ptr<KeptLockNode> self, KeepSettings how);
  /// It is not kept any longer.
  void ask(KeptLock::Cause cause = KeptLock::Cause::other);
  void lose() override;

 private:
  [[nodiscard]] static Awaitable<bool> prove_wanted(std::shared_ptr<KeptLockNode> self, Keeping keeping);
  [[nodiscard]] static Awaitable<bool> prove_asked(std::shared_ptr<KeptLockNode> self, int max_handoffs);
  void on_lapse() override;
  void on_link(SessionState state) override;
  void on_node_deleted() override;

  [[nodiscard]] bool is_on_its_connection() const noexcept;
  [[nodiscard]] bool may_keep(const HeldLock& held_lock) const noexcept;
  [[nodiscard]] std::shared_ptr<HeldLock> holder() const;
  void stop();
  void listen();
  void on_event(KeptLock::Cause cause);
  void wait_to_look();
  void look();
  void on_children(error_code error, const std::vector<std::string>& children, Watch watch);
  void on_data(error_code error, const DataResult& node);

  std::shared_ptr<LockTarget> lock_;
  KeptLock& kept_lock_;
  LockKind kind_;
  Clock::duration keep_;
  NodePlace place_;
  std::uint64_t connection_;
  Watch watch_;
  std::uint64_t watch_number_ = 0;
  std::optional<SessionRenewal> renewal_;
  Timer timer_;
  std::shared_ptr<KeptLockNodes> all_;
  bool is_over_ = false;
  std::atomic<std::int64_t> token_;
  std::atomic<std::int32_t> version_{0};
  std::atomic<bool> was_used_{true};  // since the queue was looked at

  mutable std::mutex mutex_;
  std::weak_ptr<HeldLock> holder_;
};

/// Of the children that wait in the queue, `own` is the only one.
[[nodiscard]] bool is_only_one(const std::vector<std::string>& children, std::string_view own, LockKind kind,
                               LockNaming naming);

}  // namespace zklock::detail

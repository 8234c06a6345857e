// A reader's node that its client may keep: all its readers are granted by it while no writer is in the queue.
#pragma once

#include "client_node.hpp"
#include "holder_count.hpp"
#include "kept_lock_node.hpp"
#include "kept_readers.hpp"
#include "lock_target.hpp"
#include "node_place.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/session.hpp>
#include <zklock/session_renewal.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::detail {

/// From the grant to the acquire that made the node until its delete is sent. A watch on the directory's children is
/// set by the list of that acquire. Each event leads to another list, with the watch, but at most one in `list_pause`:
/// readers come and go, and each fires the watches of all clients. If the list shows a writer, of any client, the node
/// drains: it is deleted when the last holder leaves, and watched no more. The queue is listed twice in `keep`
/// besides, so that a lost event holds up a writer for no longer, and the node's data is read then. Whatever else ends
/// the proof drains it, too.
///
/// Its timer owns it, and held locks; both own the lock.
/// Threads: the functions marked so, any; the others on the session's executor.
class KeptReaderNode : public std::enable_shared_from_this<KeptReaderNode>,
                       public LapseListener,
                       public NodeHolder,
                       public ClientNode {
 public:
  static constexpr std::chrono::milliseconds list_pause{20};

  [[nodiscard]] static std::shared_ptr<KeptReaderNode> make(std::shared_ptr<LockTarget> lock, KeptReaders& readers,
                                                            Clock::duration keep, NodePlace place,
                                                            KeptLockNode::Alone watched);
  KeptReaderNode(std::shared_ptr<LockTarget> lock, KeptReaders& readers, Clock::duration keep, NodePlace place,
                 KeptLockNode::Alone watched);

  void own(PathShare share, std::shared_ptr<LocalWaiter> local_waiter) {
    place_.keep(std::move(share));
    place_.set_local_waiter(std::move(local_waiter), weak_from_this());
  }

  // ---- any thread

  [[nodiscard]] const std::shared_ptr<LockTarget>& lock() const noexcept { return lock_; }
  [[nodiscard]] const Session& session() const noexcept { return place_.session(); }
  [[nodiscard]] const CreateResult& node() const noexcept { return place_.node(); }
  /// Another holder. False: it drains.
  [[nodiscard]] bool enter() noexcept;
  [[nodiscard]] bool is_asked() const noexcept { return count_.is_asked(); }
  /// A holder may have entered too late to hear of it.
  [[nodiscard]] bool is_gone() const noexcept { return is_gone_; }
  /// On the connection on which the watch was set, with a third of the session timeout to come: it may be granted
  /// without a request.
  [[nodiscard]] bool is_fresh() const noexcept;
  [[nodiscard]] bool take_back(const HeldLock& held_lock) override;
  /// The same, where the acquire that has entered makes no lease.
  void take_back_unused();
  void remove(std::function<void(error_code)> removed) override;
  /// It is not kept any longer: nobody enters, and it is deleted when the last holder leaves.
  void ask();

  // ---- the session's executor

  /// Whether it may be granted to an acquire that has entered. Asks the server if the session is not certain to live
  /// for long.
  [[nodiscard]] static Awaitable<bool> prove(std::shared_ptr<KeptReaderNode> self);
  void lose() override;

 private:
  void on_lapse() override;
  void on_link(SessionState state) override;
  void on_node_deleted() override { lose(); }

  [[nodiscard]] bool is_on_its_connection() const noexcept;
  [[nodiscard]] bool may_keep(const HeldLock& held_lock) const noexcept;
  void stop();
  void listen();
  void on_event();
  void wait_to_look();
  void look();
  void list();
  void on_children(error_code error, const std::vector<std::string>& children, Watch watch);
  void on_data(error_code error, const DataResult& node);

  std::shared_ptr<LockTarget> lock_;
  KeptReaders& readers_;
  Clock::duration keep_;
  NodePlace place_;
  std::uint64_t connection_;
  Watch watch_;
  std::uint64_t watch_number_ = 0;
  std::optional<SessionRenewal> renewal_;
  Timer timer_;
  Timer list_timer_;
  Clock::time_point may_list_at_ = Clock::now() + list_pause;
  bool is_listing_ = false;
  std::shared_ptr<KeptLockNodes> all_;
  bool is_over_ = false;
  HolderCount count_;
  std::atomic<bool> is_gone_{false};
  std::atomic<bool> was_used_{true};  // since the queue was looked at
};

}  // namespace zklock::detail

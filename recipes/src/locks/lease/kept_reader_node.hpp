// A reader's node that its client may keep: all its readers are granted by it while no writer is in the queue.
#pragma once

#include "holder_count.hpp"
#include "kept_readers.hpp"
#include "watched_node.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/timer.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace zklock::detail {

/// The list of the acquire that made it shows no writer. Each event leads to another list, with the watch, but at most
/// one in `list_pause`: readers come and go, and each fires the watches of all clients. If the list shows a writer, of
/// any client, the node drains: it is deleted when the last holder leaves, and watched no more. Whatever else ends the
/// proof drains it, too.
///
/// Threads: the functions marked so, any; the others on the session's executor.
class KeptReaderNode : public WatchedNode {
 public:
  static constexpr std::chrono::milliseconds list_pause{20};

  [[nodiscard]] static std::shared_ptr<KeptReaderNode> make(std::shared_ptr<LockTarget> lock, KeptReaders& readers,
                                                            Clock::duration keep, NodePlace place, ListWatch first);
  KeptReaderNode(std::shared_ptr<LockTarget> lock, KeptReaders& readers, Clock::duration keep, NodePlace place,
                 ListWatch first);

  // ---- any thread

  /// Another holder. False: it drains.
  [[nodiscard]] bool enter() noexcept;
  [[nodiscard]] bool is_asked() const noexcept { return count_.is_asked(); }
  [[nodiscard]] bool take_back(const HeldLock& held_lock) override;
  /// The same, where the acquire that has entered makes no lease.
  void take_back_unused();
  /// Nobody enters, and it is deleted when the last holder leaves.
  void ask() override;

  // ---- the session's executor

  /// Whether it may be granted to an acquire that has entered. Asks the server if the session is not certain to live
  /// for long.
  [[nodiscard]] static Awaitable<bool> prove(std::shared_ptr<KeptReaderNode> self);

 private:
  [[nodiscard]] std::vector<std::shared_ptr<HeldLock>> holders() const override { return lock()->holders_of(*this); }
  [[nodiscard]] bool is_held() const override { return count_.holders() > 0; }
  void stop() override;
  void on_event(error_code error, const WatchEvent& event) override;
  void list_soon();
  void list() override;
  void on_children(error_code error, const std::vector<std::string>& children, Watch watch) override;

  KeptReaders& readers_;
  HolderCount count_;
  Timer list_timer_;
  Clock::time_point may_list_at_ = Clock::now() + list_pause;
  bool is_listing_ = false;
};

}  // namespace zklock::detail

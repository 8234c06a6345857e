// A lock that its client keeps: who of the client's own acquires has it, and who waits for it without a node.
#pragma once

#include "kept_state.hpp"

#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/lock_settings.hpp>
#include <zklock/recipes/locks/owner.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace zklock::detail {

class KeptLockNode;

/// How a lock object keeps its lock, and for how long an owner holds it; off by default.
struct KeepSettings {
  static constexpr std::chrono::milliseconds longest = std::chrono::hours{24};  // so that sums of times do not overflow
  static constexpr std::chrono::milliseconds longest_hold = std::chrono::hours{24 * 365};

  Clock::duration keep{0};
  Keeping keeping = Keeping::confirmed;
  int handoffs = 0;             ///< local ones, after another client has asked
  Clock::duration max_hold{0};  ///< zero or less: no limit

  KeepSettings() = default;
  explicit KeepSettings(const LockSettings& settings) noexcept
      : keep{std::min(settings.keep, longest)},
        keeping{settings.keeping},
        handoffs{settings.keeping == Keeping::silent ? std::max(settings.local_hand_overs, 0) : 0},
        max_hold{std::min(settings.max_hold, longest_hold)} {}
  [[nodiscard]] bool is_on() const noexcept { return keep > keep.zero(); }
};

/// The acquires of one client on one path whose lock objects keep the lock. They wait without nodes
///   - while one of them holds a kept node, and no other client asks for it; or one does, and they are let in before;
///   - while one of them is in the queue, or holds the lock by a node that cannot be kept, and the client has last been
///     alone with the lock: once that one has released it, the next makes a node that can be kept. Another client that
///     comes meanwhile is ahead of them, so they wait no longer than the time for which the lock may be kept.
///
/// Threads: the functions marked so, any; the others on the client's executor.
class KeptLock {
 public:
  explicit KeptLock(asio::any_io_executor serial) : serial_{std::move(serial)} {}
  KeptLock(const KeptLock&) = delete;
  KeptLock& operator=(const KeptLock&) = delete;

  /// Such an acquire, from before it makes its node until it has failed, or its node is given back or may be kept. The
  /// KeptLock must outlive it. Threads: any.
  class Front {
   public:
    Front() noexcept = default;
    explicit Front(KeptLock& lock) noexcept : lock_{&lock} {}
    Front(Front&& other) noexcept : lock_{std::exchange(other.lock_, nullptr)} {}
    Front& operator=(Front&& other) noexcept {
      std::swap(lock_, other.lock_);
      other.leave();
      return *this;
    }
    ~Front() { leave(); }
    /// Null: it is none.
    [[nodiscard]] KeptLock* lock() const noexcept { return lock_; }
    /// The acquire has failed, by no fault of other clients: those that wait for it learn that for themselves.
    void fail();
    /// Its node may be kept from now on. False: there is another such node.
    [[nodiscard]] bool become(const std::shared_ptr<KeptLockNode>& node, Owner owner);

   private:
    void leave() noexcept;
    KeptLock* lock_ = nullptr;
  };

  /// The kept node by which an acquire is let in. It is given back unless it is used: the acquire may be cancelled
  /// wherever it waits, and before a coroutine that it has called begins. To be destroyed without the KeptLock's mutex.
  class Taken {
   public:
    Taken() noexcept = default;
    explicit Taken(std::shared_ptr<KeptLockNode> node) noexcept : node_{std::move(node)} {}
    Taken(Taken&& other) noexcept : node_{std::exchange(other.node_, nullptr)}, may_keep_{other.may_keep_} {}
    Taken& operator=(Taken&& other) noexcept {
      std::swap(node_, other.node_);
      std::swap(may_keep_, other.may_keep_);
      return *this;
    }
    ~Taken();
    /// Null: there is none.
    [[nodiscard]] const std::shared_ptr<KeptLockNode>& node() const noexcept { return node_; }
    /// If it is given back, it is not kept.
    void doubt() noexcept { may_keep_ = false; }
    /// It is granted, and KeptLockNode::take_back gives it back later.
    [[nodiscard]] std::shared_ptr<KeptLockNode> use() noexcept { return std::exchange(node_, nullptr); }

   private:
    std::shared_ptr<KeptLockNode> node_;
    bool may_keep_ = true;
  };

  /// What an acquire does next.
  struct Entry {
    Taken taken{};              ///< it has the lock by this node
    Front front{};              ///< it makes a node
    bool enters_again = false;  ///< its owner has got the lock meanwhile
  };
  struct Wanted {
    Owner owner;
    KeepSettings keep;
    bool try_once;
    bool is_connected;
  };
  /// Waits until it is known what the acquire does. The KeptLock must outlive the call. Errors: operation_aborted;
  /// timed_out for a try.
  [[nodiscard]] static Awaitable<Result<Entry>> enter(KeptLock& lock, Wanted wanted);

  // ---- any thread

  /// Takes the kept node for an owner that does not wait; null: it is not kept, or another acquire is in the queue.
  [[nodiscard]] Taken take(Owner owner);
  /// The node's owner gives the lock back. True: the caller deletes the node now.
  [[nodiscard]] bool release(const KeptLockNode& node, bool may_keep);
  enum class Cause {
    another_client,  ///< may be in the queue: the first of those that wait may be let in before
    other            ///< nobody is let in by the node any more
  };
  /// The node is not kept any longer: after its owner's release, or from now on. True: the caller deletes it now.
  [[nodiscard]] bool ask(const KeptLockNode& node, Cause cause);
  /// Another client has asked for the node; this acquire, which has taken it, gets the lock all the same, as one of at
  /// most so many. False: it does not.
  [[nodiscard]] bool begin_handoff(const KeptLockNode& node, int max_handoffs);
  /// An owner holds the node, or it is kept, and nobody has asked for it.
  [[nodiscard]] bool is_wanted(const KeptLockNode& node) const;
  /// The node, as long as it is held or kept; null: there is none.
  [[nodiscard]] std::shared_ptr<KeptLockNode> node() const;

  /// An acquire that was let in goes to the queue after all.
  [[nodiscard]] Front begin_front();

  // ---- whether to keep: only a client that is alone with the lock does

  /// An acquire has made a node: with the number after that of the client's last one, or with another.
  void on_enqueued(bool is_adjacent) noexcept { adjacent_ = is_adjacent ? adjacent_ + 1 : 0; }
  /// The same by the numbers alone, where the client's nodes do not know each other.
  void on_numbered(std::int32_t sequence) noexcept {
    on_enqueued(sequence == std::int64_t{last_number_} + 1);
    last_number_ = sequence;
  }
  /// The next acquire may find that it can keep its node.
  [[nodiscard]] bool is_alone() const noexcept { return adjacent_ > 0; }
  /// Another client is in the queue: those that wait without nodes make them.
  void on_stranger();

 private:
  static constexpr int no_more_handoffs = std::numeric_limits<int>::max();

  struct Waiter;
  struct Withdrawal;
  using Waiters = std::list<std::shared_ptr<Waiter>>;  // tens of thousands may end together

  void begin(const std::shared_ptr<Waiter>& waiter, const Wanted& wanted);
  [[nodiscard]] bool enqueue_unless_held(const std::shared_ptr<Waiter>& waiter);
  void withdraw(const std::shared_ptr<Waiter>& waiter);
  void on_front_left() noexcept;
  /// To be called with the mutex locked, the others without. How many of those that wait are let in before another
  /// client that has asked; those behind the first ones, which make nodes now.
  [[nodiscard]] std::size_t may_stay() const;
  [[nodiscard]] Waiters flushed(std::size_t staying = 0);
  void wake(Waiters waiters) const;

  asio::any_io_executor serial_;
  int adjacent_ = 0;               // acquires in a row; the client's executor
  std::int32_t last_number_ = -2;  // none; the client's executor

  mutable std::mutex mutex_;
  KeptState state_ = KeptState::free;
  std::weak_ptr<KeptLockNode> node_;  // unless the state is free
  std::optional<Owner> owner_;        // while it is held
  int handoffs_ = 0;                  // of the node, since another client asked for it
  Waiters waiters_;
  int fronts_ = 0;
};

}  // namespace zklock::detail

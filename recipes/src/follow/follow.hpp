// Follows nodes over lost links and sessions: the engine of watches, caches, groups and shared values.
#pragma once

#include "dirty_set.hpp"

#include <zklock/client.hpp>
#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/observers.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipe_kit/watch_listener.hpp>
#include <zklock/recipes/caches/follow_observer.hpp>
#include <zklock/recipes/caches/freshness.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace zklock {

/// Makes something of what is read. It is called on the serial executor, in the order of the servers' replies; within
/// these calls it may add, drop and release items.
class Follower {
 public:
  virtual ~Follower() = default;
  virtual void on_data(const std::string& path, DataResult data) = 0;
  virtual void on_children(const std::string& path, ChildrenResult children) = 0;
  /// There is no such node. The first item stays and is told when there is one; any other item is dropped already.
  virtual void on_absent(const Item& item) = 0;
  /// The item cannot be read: above all no_auth. It is tried again from time to time.
  virtual void on_unreadable(const Item& item, error_code error) = 0;
  /// Everything has been read once, but for late items.
  virtual void on_initialized() {}
  virtual void on_freshness(const Freshness& freshness) = 0;
  /// No more calls follow, since no session does.
  virtual void on_end(error_code reason) = 0;
};

/// Reads its items with watches, and reads again what events tell of, each by the path's one session. No change is
/// lost: an item is dirty until it was read, and a new session reads everything. After a lost link the watches tell what
/// changed, and only that is read. Everything is as the servers have it once a sync that was sent on this connection
/// is answered, and all is read that was dirty then.
///
/// Threads: the serial executor, unless marked.
class Follow final : public detail::FreshnessSource, public WatchListener, public std::enable_shared_from_this<Follow> {
 public:
  using Urgency = DirtySet::Urgency;

  /// The reads that are under way at once. It is also what keeps many clients from overloading servers that have come
  /// back: a client's next read waits for an answer.
  static constexpr std::size_t window = 64;
  /// How often it looks again where no event may come: at absent and at unreadable nodes [ZOOKEEPER-2590].
  static constexpr std::chrono::seconds slow_look{30};

  Follow(const ClientHandle& client, Item first);

  /// Any thread, once.
  void start(std::weak_ptr<Follower> follower);
  /// Any thread. No more calls of the follower begin; no watch is left.
  void stop();
  /// Any thread.
  [[nodiscard]] Freshness freshness() const override;

  // within the follower's functions that a reply calls; the reads begin when they have returned

  /// Begins to follow; does nothing if it is followed already.
  void add(const Item& item, Urgency urgency = Urgency::soon);
  void drop(const Item& item);
  /// The node is there: an item whose deletion was told is read again. (A deletion alone causes no read.)
  void release(const Item& item) { dirty_.release(item); }
  /// It was read, and no event has told of a change since.
  [[nodiscard]] bool is_clean(const Item& item) { return dirty_.is_clean(item); }
  /// Reads the item again, though no event has told of a change.
  void recheck(const Item& item) { dirty_.mark(item); }
  /// Why something cannot be followed, for another reason than no_auth; success if all can.
  [[nodiscard]] error_code trouble() const { return blind_.empty() ? error_code{} : trouble_.value_or(error_code{}); }
  /// Drops everything and begins anew with the first item.
  void start_anew();

  /// Waits until all is read once. The caller keeps this object. Fails with the trouble if something cannot be followed,
  /// for another reason than no_auth.
  [[nodiscard]] Awaitable<error_code> wait_initialized();
  /// Waits until all is read that had changed at the servers when this call began. Fails likewise.
  [[nodiscard]] Awaitable<error_code> refresh();

 private:
  static Awaitable<void> run(std::shared_ptr<Follow> self);
  void begin(const Session& session);
  void on_connected();
  void on_suspended();
  void end(error_code reason);
  void send_sync();
  void send_due_refresh();
  void mark_unsure();
  void on_sync(std::uint64_t number, error_code error);
  [[nodiscard]] bool is_synced() const noexcept { return connected_ && answered_sync_ >= first_sync_; }
  [[nodiscard]] bool owes_nothing() const noexcept {
    return dirty_.owed(Urgency::soon) == 0 && dirty_.owed(Urgency::late) == 0;
  }
  void settle();
  void set_freshness(Freshness::State state);
  void tell_observers(Freshness::State before, Freshness::State state, error_code error) const;
  void stop_now();

  void pump();
  void read(const DirtySet::Read& read);
  void look_for_first(const DirtySet::Read& read);
  void on_existence(const DirtySet::Read& read, error_code error, bool is_there);
  [[nodiscard]] bool needs_watch(const Item& item);
  /// True: the reply counts, and has a value.
  [[nodiscard]] bool counts(const DirtySet::Read& read, error_code error);
  template <class Value, class Tell>
  auto when_read(const DirtySet::Read& read, Tell tell);
  void forget_all();
  void retry_later();
  void cannot_read(const Item& item, error_code error);
  void look_again_later();
  void look_again();
  void on_watch_event(WatchKind kind, const WatchEvent& event) override;

  ClientHandle client_;
  asio::any_io_executor serial_;
  std::shared_ptr<const detail::Observers<FollowObserver>> observers_;  // null: none
  std::uint64_t number_ = detail::next_number<FollowObserver>();
  Item first_;
  std::weak_ptr<Follower> follower_;
  asio::cancellation_signal cancellation_;

  Session session_;
  WatchSet watches_;  // of that session
  DirtySet dirty_;
  DirtySet::Duty duty_ = DirtySet::Duty::owed;  // of the reply that the follower is told
  bool first_is_absent_ = false;
  std::set<Item> unsure_;  // no event may tell of their changes
  std::set<Item> blind_;   // of these: without a watch for another reason than missing or refused
  Item last_look_;
  std::optional<error_code> trouble_;

  bool has_begun_ = false;
  bool connected_ = false;
  bool initialized_ = false;
  bool caught_up_ = false;
  bool paused_ = false;
  bool looking_ = false;
  bool stopped_ = false;
  // Syncs by number: the last one sent, the last one answered, and the first one of this connection.
  std::uint64_t sent_sync_ = 0;
  std::uint64_t answered_sync_ = 0;
  std::uint64_t first_sync_ = 0;
  bool refresh_is_due_ = false;  // with the next sync
  int failures_ = 0;
  std::optional<error_code> ended_;
  Timer pause_;
  Timer look_;
  AsyncEvent progress_;

  mutable std::mutex mutex_;  // of what follows
  Freshness freshness_;
  Session shown_session_;
};

}  // namespace zklock

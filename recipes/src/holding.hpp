// A lock that is held: what leases, and the threads that hold by blocking calls, refer to.
#pragma once

#include "lock_events.hpp"
#include "path_use.hpp"
#include "reentry_count.hpp"
#include "siblings.hpp"

#include <zklock/detail/spawn.hpp>
#include <zklock/recipes/lease.hpp>
#include <zklock/recipes/owner.hpp>
#include <zklock/session.hpp>
#include <zklock/session_renewal.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock::detail {

/// Our node, and how many times over its owner holds the lock by it.
///
/// Threads: what is marked so, any; the rest on the session's executor.
class Holding : public std::enable_shared_from_this<Holding>, public LapseListener {
 public:
  using Entered = ReentryCount::Entered;

  /// `lock` is told once, when the owner has given all back.
  Holding(std::shared_ptr<LockCore> lock, Owner owner, LockKind kind, Session session, CreateResult node,
          const LockAttempt& attempt);
  ~Holding() override;
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;
  /// Keeps the session's life proven, and hears when that fails. At once after the constructor.
  void keep_alive();

  // any thread
  [[nodiscard]] LeaseState state() const noexcept;
  /// The session is over, the proof of its life is too old, or the node is gone. Once so it stays so.
  [[nodiscard]] bool is_lost() const noexcept;
  /// Somebody has asked for the lock: the node's data say __REVOKE__.
  [[nodiscard]] bool is_revoked() const noexcept { return revoked_; }
  [[nodiscard]] const Session& session() const noexcept { return session_; }
  [[nodiscard]] const CreateResult& node() const noexcept { return node_; }
  [[nodiscard]] std::int64_t fencing_token() const noexcept { return token_; }
  [[nodiscard]] Clock::time_point granted_at() const noexcept { return granted_at_; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_.value(); }
  /// Once more; `by` an attempt that waited for it, or null.
  [[nodiscard]] Entered enter(LockAttempt* by = nullptr);
  /// Once less. True: that was the last, and the node is to be deleted, by one of the next two.
  [[nodiscard]] bool leave();
  /// Deletes the node in the background.
  void remove();
  /// Deletes the node, and gives the server's word. Who is next in line is not kept waiting for it.
  [[nodiscard]] static Awaitable<error_code> remove_for_sure(std::shared_ptr<Holding> self);
  /// What the client uses the path for meanwhile.
  void keep(PathShare share) noexcept { share_ = std::move(share); }
  /// We are that one of the client's own nodes.
  void stand_as(std::shared_ptr<Sibling> sibling);
  /// Our node stands beside that writer's, in its place in line: it was made later than those of writers who wait, but
  /// comes before them, and so has the writer's token.
  void stand_beside(const Holding& writer) noexcept { token_ = writer.token_; }
  /// Asks whether the node is there, unless whoever handed the lock over has asked; if it is not the lock is lost.
  void verify();
  /// The node is seen to be gone.
  void lose();
  /// The node's data have been read.
  void on_data(const std::string& data);
  /// Something has changed that somebody may wait for.
  void wake();
  /// A timer, cancelled with each wake().
  [[nodiscard]] std::shared_ptr<Timer> open_gate();

 private:
  void on_lapse() override;
  void on_removed(error_code outcome);
  /// What was granted has ended: says so once, be it lost or released.
  void conclude() noexcept;
  [[nodiscard]] std::string_view cause_of_loss() const noexcept;
  [[nodiscard]] LockEvent event(LockPhase phase) const noexcept;
  /// Our other nodes are told that this one goes; those that wait for it.
  [[nodiscard]] std::vector<std::shared_ptr<Sibling>> depart();
  void look();
  static Awaitable<void> look_again(std::weak_ptr<Holding> weak, Session session);
  void count_has_changed();
  static Awaitable<void> write_count(std::shared_ptr<Holding> self);
  [[nodiscard]] static Awaitable<error_code> write(std::shared_ptr<Holding> self, std::uint32_t count);

  std::shared_ptr<LockCore> lock_;
  PathShare share_;  // until the delete is put on the wire
  Owner owner_;
  LockKind kind_;
  std::uint64_t attempt_;
  Session session_;
  CreateResult node_;
  std::int64_t token_;  // before the holding is shared it may still change
  Clock::time_point granted_at_ = Clock::now();
  std::optional<SessionRenewal> renewal_;
  std::shared_ptr<Sibling> sibling_;
  ReentryCount count_;  // the authority
  mutable std::atomic<bool> lost_{false};
  std::atomic<bool> vanished_{false};
  std::atomic<bool> concluded_{false};
  std::atomic<bool> revoked_{false};
  std::vector<std::weak_ptr<Timer>> gates_;

  std::atomic<bool> writing_{false};
  std::uint32_t written_ = 1;  // what the node's data say; the writer's
  std::int32_t version_ = 0;   // and their version
};

/// One acquire's share of a holding.
///
/// Threads: any.
class Hold {
 public:
  explicit Hold(std::shared_ptr<Holding> holding) noexcept : holding_{std::move(holding)} {}

  [[nodiscard]] Holding& holding() const noexcept { return *holding_; }
  [[nodiscard]] const std::shared_ptr<Holding>& shared_holding() const noexcept { return holding_; }
  [[nodiscard]] LeaseState state() const noexcept;
  [[nodiscard]] Clock::time_point valid_until() const noexcept;
  [[nodiscard]] Transaction guard() const;
  /// True for the one caller who ends it.
  [[nodiscard]] bool end();

 private:
  std::shared_ptr<Holding> holding_;
  std::atomic<bool> released_{false};
};

}  // namespace zklock::detail

// A lock that is held: what leases, and the threads that hold by blocking calls, refer to.
#pragma once

#include <zklock/detail/spawn.hpp>
#include <zklock/recipes/lease.hpp>
#include <zklock/session.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zklock::detail {

/// Our node, and how many times over its owner holds the lock by it.
///
/// Threads: any.
class Holding : public std::enable_shared_from_this<Holding> {
 public:
  enum class Entered { yes, ended, too_often };

  /// `ended` is called once, when the owner has given all back.
  Holding(Session session, CreateResult node, std::string client_id, std::function<void()> ended);

  [[nodiscard]] LeaseState state() const noexcept;
  [[nodiscard]] const Session& session() const noexcept { return session_; }
  [[nodiscard]] const CreateResult& node() const noexcept { return node_; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

  /// Once more.
  [[nodiscard]] Entered enter();
  /// Once less. True: that was the last, and the node is to be deleted.
  [[nodiscard]] bool leave();

 private:
  void count_has_changed();
  static Awaitable<void> write_count(std::shared_ptr<Holding> self);

  Session session_;
  CreateResult node_;
  std::string client_id_;
  std::function<void()> ended_;
  std::atomic<std::uint32_t> count_{1};  // the authority
  std::atomic<bool> writing_{false};
  std::uint32_t written_ = 1;  // what the node's data say; the writer's
};

/// One acquire's share of a holding.
///
/// Threads: what is marked so, any; the rest on the session's executor.
class Hold : public std::enable_shared_from_this<Hold> {
 public:
  explicit Hold(std::shared_ptr<Holding> holding) noexcept : holding_{std::move(holding)} {}

  // any thread
  [[nodiscard]] Holding& holding() const noexcept { return *holding_; }
  [[nodiscard]] const std::shared_ptr<Holding>& shared_holding() const noexcept { return holding_; }
  [[nodiscard]] LeaseState state() const noexcept;
  /// True for the one caller who ends it.
  [[nodiscard]] bool end() noexcept;

  /// A timer that never expires, cancelled when the hold ends.
  [[nodiscard]] std::shared_ptr<Timer> open_gate();

 private:
  std::shared_ptr<Holding> holding_;
  std::atomic<bool> released_{false};
  std::vector<std::weak_ptr<Timer>> gates_;
};

}  // namespace zklock::detail

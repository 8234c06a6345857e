// A lock that is held: what a Lease and the threads that share it refer to.
#pragma once

#include <zklock/detail/spawn.hpp>
#include <zklock/recipes/lease.hpp>
#include <zklock/session.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace zklock::detail {

/// Threads: what is marked so, any; the rest on the session's executor.
class Holding : public std::enable_shared_from_this<Holding> {
 public:
  Holding(Session session, CreateResult node, std::string client_id);

  // any thread
  [[nodiscard]] LeaseState state() const noexcept;
  [[nodiscard]] const Session& session() const noexcept { return session_; }
  [[nodiscard]] const CreateResult& node() const noexcept { return node_; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  /// The count is the authority; the node's data follow it, one write under way at a time, the newest value wins.
  void set_count(std::uint32_t count);
  /// True for the one caller who ends the holding, and has to delete the node.
  [[nodiscard]] bool end() noexcept;

  /// A timer that never expires, cancelled when the holding ends.
  [[nodiscard]] std::shared_ptr<Timer> open_gate();

 private:
  static Awaitable<void> write_count(std::shared_ptr<Holding> self);

  Session session_;
  CreateResult node_;
  std::string client_id_;
  std::atomic<std::uint32_t> count_{1};
  std::atomic<bool> released_{false};
  bool writing_ = false;
  std::uint32_t written_ = 1;
  std::vector<std::weak_ptr<Timer>> gates_;
};

}  // namespace zklock::detail

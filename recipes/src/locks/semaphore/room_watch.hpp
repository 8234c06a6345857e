// The watches that wake an acquire that waits for permits.
#pragma once

#include "semaphore_core.hpp"

#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock {

/// Watches for a free permit among a semaphore's leases. Only the holder of the semaphore's mutex does so: a released
/// permit thus wakes one client. Also watches the mutex's node: if an operator deletes it, the next client in the queue
/// waits for a free permit, too, and two clients that count each other's nodes would wait for ever.
///
/// Threads: the session's executor.
class RoomWatch {
 public:
  /// `mutex` is the path of the mutex's node. The semaphore must outlive the watch.
  RoomWatch(Session session, const detail::SemaphoreCore& semaphore, std::string mutex);

  /// Waits until the attempt's nodes, which were too many by the last list, may be permits, or the mutex is lost.
  [[nodiscard]] Awaitable<error_code> wait(const std::vector<std::string>& own, std::int32_t permits);
  /// The mutex's node was found to be gone. The servers report that before they answer later requests.
  [[nodiscard]] bool is_mutex_lost() const noexcept { return state_->mutex_lost; }

 private:
  struct State {
    explicit State(const asio::any_io_executor& serial) : changed{serial} {}
    AsyncEvent changed;
    bool mutex_lost = false;
  };

  enum class Whose { mutex, leases, count };

  [[nodiscard]] Awaitable<error_code> watch_mutex();
  /// Ends the wait when the watch fires.
  void follow(Watch& watch, Whose whose) const;

  Session session_;
  const detail::SemaphoreCore& semaphore_;
  std::string mutex_;
  std::shared_ptr<State> state_;
  std::optional<Watch> mutex_watch_;
};

}  // namespace zklock

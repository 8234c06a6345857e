// What one who waits for permits is woken by.
#pragma once

#include "semaphore_core.hpp"

#include <zklock/detail/spawn.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock {

/// Watches for room among a semaphore's leases on behalf of the holder of its mutex, and of nobody else, so that a
/// permit that is given back wakes one client; and watches the mutex's node. Where an operator deletes that, the next
/// one in the queue waits for room, too: two who count each other's nodes would wait for ever.
///
/// Threads: the session's executor.
class RoomWatch {
 public:
  /// `mutex` is the path of the mutex's node. The semaphore must outlive the watch.
  RoomWatch(Session session, const detail::SemaphoreCore& semaphore, std::string mutex);

  /// Sleeps until our nodes may be permits, being too many by what was seen last, or the mutex is lost.
  [[nodiscard]] Awaitable<error_code> wait(const std::vector<std::string>& own, std::int32_t permits);
  /// Its node is seen to be gone. The servers tell of that before they answer what is asked later.
  [[nodiscard]] bool is_mutex_lost() const noexcept { return state_->mutex_lost; }

 private:
  struct State {
    explicit State(const asio::any_io_executor& serial) : gate{serial, Clock::time_point::max()} {}
    Timer gate;  // never expires
    bool mutex_lost = false;
  };

  enum class Whose { mutex, leases, count };

  [[nodiscard]] Awaitable<error_code> watch_mutex();
  /// When it fires it ends the sleep.
  void follow(Watch& watch, Whose whose) const;

  Session session_;
  const detail::SemaphoreCore& semaphore_;
  std::string mutex_;
  std::shared_ptr<State> state_;
  std::optional<Watch> mutex_watch_;
};

}  // namespace zklock

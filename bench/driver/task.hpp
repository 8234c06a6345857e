// What a subject is to do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

namespace zklock::bench {

/// From words such as "waiters=8", which the drivers in all languages share.
struct Task {
  enum class Kind { lock, read_write, reentry };

  Kind kind = Kind::lock;
  std::string servers;          ///< where: a connect string
  std::string path = "/bench";  ///< of the lock, or above the locks
  std::size_t waiters = 1;      ///< who loop: acquire, release
  std::size_t locks = 1;        ///< waiter i uses lock i modulo this
  std::size_t sessions = 1;     ///< or connections
  std::size_t readers = 0;
  std::size_t writers = 0;
  int session_timeout_ms = 10'000;

  [[nodiscard]] std::string lock_path(std::size_t waiter) const {
    return locks == 1 ? path + "/lock" : path + "/lock-" + std::to_string(waiter % locks);
  }
};

/// Throws std::invalid_argument for a word that says nothing.
Task parse_task(std::span<char*> words);

}  // namespace zklock::bench

// The task of a subject.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

namespace zklock::bench {

/// Parsed from words such as "waiters=8", which the drivers in all languages share.
struct Task {
  enum class Kind {
    lock,
    read_write,
    reentry,
    turns,  ///< one worker acquires and releases, by one client after the other
    tries   ///< the lock is held by the first client, and the second one tries for it
  };

  Kind kind = Kind::lock;
  std::string servers;          ///< the connect string
  std::string path = "/bench";  ///< the path of the lock, or the one above the locks
  std::size_t waiters = 1;      ///< workers that loop: acquire, release
  std::size_t locks = 1;        ///< waiter i uses lock i modulo this
  std::size_t sessions = 1;     ///< sessions, or connections, of a client
  std::size_t clients = 1;      ///< waiter i uses client i modulo this, with sessions of its own
  std::size_t turn = 1;         ///< of turns: how many cycles the first client does at a stretch; the others do one
  std::size_t readers = 0;
  std::size_t writers = 0;
  std::size_t write_every_ms = 0;  ///< how long it is from one write to the next, if that takes no longer
  std::size_t hold_ms = 0;         ///< how long a candidate leads
  int session_timeout_ms = 10'000;

  [[nodiscard]] std::string lock_path(std::size_t waiter) const {
    return locks == 1 ? path + "/lock" : path + "/lock-" + std::to_string(waiter % locks);
  }
};

/// Throws std::invalid_argument for an unknown word.
Task parse_task(std::span<char*> words);

}  // namespace zklock::bench

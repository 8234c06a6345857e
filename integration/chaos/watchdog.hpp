// Whether a client's I/O thread does what it is asked at once.
#pragma once

#include "record.hpp"

#include <zklock/client.hpp>

#include <atomic>
#include <thread>

namespace zklock::chaos {

/// Asks the client's I/O thread for a sign of life, again and again, and notes when it is late: by how much, less the
/// time that it waited for a processor. Notes, besides, until when the session has proof that it lives.
class Watchdog {
 public:
  Watchdog(const Client& client, const Log& log, int process);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;

 private:
  struct Shared;
  void run();
  void note_trust();

  const Client& client_;
  std::shared_ptr<Shared> shared_;
  std::atomic<bool> over_{false};
  std::int64_t trusted_ = 0;  ///< a session
  Clock::time_point trusted_until_{};
  std::thread thread_;
};

}  // namespace zklock::chaos

// Whether a client's I/O thread is in time.
#pragma once

#include "record.hpp"

#include <zklock/client.hpp>

#include <atomic>
#include <memory>
#include <thread>

namespace zklock::chaos {

/// Has a timer on the client's I/O thread, and notes when it fires late: by how much, less the time that the thread
/// waited for a processor, or was in writes of the campaign's records. Also notes until when the session is proven
/// valid.
class Watchdog {
 public:
  Watchdog(const Client& client, const Log& log, int process);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;

 private:
  struct Ticks;
  void run();
  void note_trust();

  const Client& client_;
  const Log& log_;
  int process_;
  std::shared_ptr<Ticks> ticks_;
  std::atomic<bool> over_{false};
  std::int64_t trusted_ = 0;  ///< the id of a session
  Clock::time_point trusted_until_{};
  std::thread thread_;
};

}  // namespace zklock::chaos

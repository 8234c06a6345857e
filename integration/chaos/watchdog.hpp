// Whether a client's I/O thread does at once what it is asked.
#pragma once

#include "record.hpp"

#include <zklock/client.hpp>

#include <atomic>
#include <memory>
#include <thread>

namespace zklock::chaos {

/// Has a timer on the client's I/O thread, and notes when its end is seen late: by how much, less the time that the
/// thread waited for a processor or wrote records of the campaign, and less what a hypervisor took from any processor
/// meanwhile. Also notes until when the session is proven valid.
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

// Whether a client's I/O thread does at once what it is asked.
#pragma once

#include "record.hpp"

#include <zklock/client.hpp>

#include <atomic>
#include <thread>

namespace zklock::chaos {

/// Asks the client's I/O thread for a reply, again and again, and notes when it is late: by how much, less the time
/// that it waited for a processor, and less what a hypervisor took from any processor meanwhile. Also notes until when
/// the session is proven valid.
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
  std::int64_t trusted_ = 0;  ///< the id of a session
  Clock::time_point trusted_until_{};
  std::thread thread_;
};

}  // namespace zklock::chaos

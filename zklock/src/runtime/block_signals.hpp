// Threads that the host program's signals do not reach.
#pragma once

#include <csignal>
#include <initializer_list>

#include <pthread.h>

namespace zklock {

/// While it lives, this thread blocks all signals but those of its own faults, and so do for good the threads that it
/// starts meanwhile: the host program's signals are none of our threads' business, and would interrupt the library
/// where it must not be (97).
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    ::sigfillset(&all);
    for (const int own_fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) ::sigdelset(&all, own_fault);
    ::pthread_sigmask(SIG_BLOCK, &all, &saved_);
  }
  ~BlockSignals() { ::pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t saved_{};
};

}  // namespace zklock

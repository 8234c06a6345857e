// Threads that the host program's signals do not reach.
#pragma once

#include <csignal>
#include <initializer_list>

#include <pthread.h>

namespace zklock {

/// While it exists, this thread blocks all signals except those of its own faults. Threads that it starts meanwhile
/// block them for good: the host program's signals are not meant for zklock's threads, and would interrupt the library
/// at the wrong place [F97].
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

#include "library_lock.hpp"

#include <mutex>

#include <pthread.h>

namespace zklock {

namespace {

std::mutex one_at_a_time;

void before_fork() { one_at_a_time.lock(); }
void after_fork() { one_at_a_time.unlock(); }

/// Registered at the program's start, so that no fork happens during the registration.
[[maybe_unused]] const int registered = ::pthread_atfork(before_fork, after_fork, after_fork);

}  // namespace

LibraryLock::LibraryLock() { one_at_a_time.lock(); }
LibraryLock::~LibraryLock() { one_at_a_time.unlock(); }

}  // namespace zklock

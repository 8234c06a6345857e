#include "forks.hpp"

#include <atomic>

#include <pthread.h>

namespace zklock {

namespace {

std::atomic<unsigned> count{0};

/// Registered at the program's start, so that no fork happens during the registration.
[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, [] { ++count; });

}  // namespace

unsigned forks() noexcept { return count; }

}  // namespace zklock

// Polls for the actions of another process.
#pragma once

#include "descriptor.hpp"

#include <poll.h>

namespace zklock::testing {

/// Asks every few milliseconds until the answer converts to true or the time is up; returns the last answer.
template <class Question>
auto ask_until(Question question, Deadline deadline) {
  for (;;) {
    auto answer = question();
    if (answer || std::chrono::steady_clock::now() >= deadline) return answer;
    ::poll(nullptr, 0, 5);
  }
}

}  // namespace zklock::testing

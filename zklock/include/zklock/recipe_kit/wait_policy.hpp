// How long an operation may wait for other clients.
#pragma once

#include <zklock/clock.hpp>

#include <chrono>

namespace zklock::detail {

/// How long an acquire waits. Trivial: it may be part of a co_await expression (docs/contributing.md, compiler traps).
struct WaitPolicy {
  enum class Kind { forever, until, try_once };
  Kind kind = Kind::forever;
  Clock::time_point deadline{};

  template <class Rep, class Period>
  static WaitPolicy of(std::chrono::duration<Rep, Period> wait) {
    if (wait <= wait.zero()) return {Kind::try_once, {}};
    return {Kind::until, *after(wait)};
  }
  /// Until a deadline of any clock. It computes in seconds of floating point, in which no time point overflows.
  template <class AnyClock, class Duration>
  static WaitPolicy of(std::chrono::time_point<AnyClock, Duration> deadline) {
    using Seconds = std::chrono::duration<double>;
    return of(Seconds{deadline.time_since_epoch()} - Seconds{AnyClock::now().time_since_epoch()});
  }
};

}  // namespace zklock::detail

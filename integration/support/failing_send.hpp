// The system's send(), under the test's control.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zklock::test {

/// While an object lives, one of the process's sends to this port of the machine loses its connection. One at a time.
/// Threads: any.
class FailingSend {
 public:
  struct Where {
    int after = 0;      ///< so many sends go out whole
    bool half = false;  ///< then one goes out by half, and reports that
  };
  FailingSend(std::uint16_t port, Where where);
  ~FailingSend();
  FailingSend(const FailingSend&) = delete;

  [[nodiscard]] bool has_failed() const;
  /// The sends to the port that would have raised SIGPIPE on a connection that is gone.
  [[nodiscard]] int with_signals() const;
};

}  // namespace zklock::test

// How long to wait before the next try, if there is to be one.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace zklock {

/// Curator's ExponentialBackoffRetry, with full jitter: before retry n the wait is drawn evenly from (0, base * 2^n],
/// at most `max_wait`. A crowd that failed together does not come back together.
///
/// A value: copy it freely; it holds no state between operations.
struct ExponentialBackoffRetry {
  std::chrono::milliseconds base{100};
  int max_retries = 5;
  std::chrono::milliseconds max_wait{10'000};

  /// The wait before retry number `retry` (0 is the first), or nothing when the tries are used up. `random` is any 64
  /// random bits. Between 1 ms and `max_wait`, for any policy that validate() passes and any `retry`; a negative one
  /// gives nothing.
  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_before(int retry, std::uint64_t random) const noexcept;

  /// Throws boost::system::system_error with Error::invalid_retry_policy unless base > 0, max_wait >= base and
  /// max_retries >= 0.
  void validate() const;
};

}  // namespace zklock

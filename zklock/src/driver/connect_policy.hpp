// Where to connect next, how soon, and how long a server may take: decisions without I/O.
#pragma once

#include <zklock/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zklock {

/// The C client tries every second address of its list, and so never half of an even one (118): one address is
/// repeated. It begins at a random place of the list, so the repeated one is drawn for each client; of two servers the
/// first would otherwise get two thirds of all clients.
[[nodiscard]] std::vector<std::string> odd_list(std::vector<std::string> servers, std::uint64_t random);

/// The wait before the next attempt to connect, after `failures` in a row, a lost connection among them. The first is
/// drawn from up to `jitter`, the others from the upper half of what grows from 20 ms to a tenth of the session timeout
/// (81).
[[nodiscard]] Clock::duration wait_to_connect(int failures, Clock::duration jitter, Clock::duration session_timeout,
                                              std::uint64_t random);

/// How long a server may take to finish the handshake before the next one is tried: at first so long that one round
/// takes half of the session timeout, so that a server that says nothing does not cost the session (134). After each
/// round in which nobody was quick enough it is twice as long, up to where the C client gives up by itself: servers
/// that are slow are reached in the end.
class HandshakeLimit {
 public:
  /// `addresses`: as many as the C client has.
  [[nodiscard]] Clock::duration limit(Clock::duration session_timeout, std::size_t addresses) const noexcept;

  enum class Failure { overdue, other };
  void on_failure(Failure failure, std::size_t addresses) noexcept;
  void on_connected() noexcept { *this = {}; }

 private:
  std::size_t tried_ = 0;  // in this round
  bool overdue_ = false;   // in this round
  int rounds_too_slow_ = 0;
};

}  // namespace zklock

// Decides, without I/O, where to connect next, how soon, and how long a server may take.
#pragma once

#include "log_limit.hpp"

#include <zklock/clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zklock {

/// How long a graceful close may take: the C client's own takes 4.5 s at most, where there is a connection [F124].
inline constexpr std::chrono::seconds close_limit{5};

/// The C client tries every second address of its list, and so never half of an even number of them [F118]: one address
/// is repeated. The C client begins at a random place of the list, so the repeated address is drawn for each client; of
/// two servers the first would otherwise get two thirds of all clients.
[[nodiscard]] std::vector<std::string> odd_list(std::vector<std::string> servers, std::uint64_t random);

/// The wait before the next attempt to connect, after `failures` in a row, of which a lost connection is one. The first
/// wait is drawn from up to `jitter`. The others are drawn from the upper half of a range that grows from 20 ms to a
/// tenth of the session timeout [F81].
[[nodiscard]] Clock::duration wait_to_connect(int failures, Clock::duration jitter, Clock::duration session_timeout,
                                              std::uint64_t random);

/// How long a server may take to finish the handshake before the next one is tried. At first one round of the servers
/// takes half of the session timeout, so that a silent server does not cost the session [F134]. After each round in
/// which no server was quick enough the limit doubles, up to the point where the C client gives up by itself. So slow
/// servers are reached in the end.
class HandshakeLimit {
 public:
  /// `addresses`: the number of addresses that the C client has.
  [[nodiscard]] Clock::duration limit(Clock::duration session_timeout, std::size_t addresses) const noexcept;

  enum class Failure { overdue, other };
  void on_failure(Failure failure, std::size_t addresses) noexcept;
  void on_answer() noexcept { *this = {}; }

 private:
  std::size_t tried_ = 0;  // in this round
  bool overdue_ = false;   // in this round
  int rounds_too_slow_ = 0;
};

/// What one session leaves to the next one of its client. A connection or a session that is made proves nothing: what
/// takes 41 bytes and answers with as many is not yet a ZooKeeper server. Only an answered request does.
struct ConnectHistory {
  int failures = 0;    ///< in a row
  bool of_use = true;  ///< a request was answered since the last session ended; or there was none before
  LogLimit log_limit{};
};

/// The attempts of one driver to connect: since when one is under way, how long it may take, and when the next one may
/// begin.
///
/// Threads: one at a time.
class ConnectAttempts {
 public:
  using Failure = HandshakeLimit::Failure;
  static constexpr Clock::time_point never = Clock::time_point::max();

  /// `session_timeout`: for the pause after earlier sessions that were of no use.
  ConnectAttempts(Clock::duration jitter, std::shared_ptr<ConnectHistory> history, Clock::duration session_timeout,
                  Clock::time_point now, std::uint64_t (*random)());

  void begin(Clock::time_point now) noexcept { since_ = now; }
  void end() noexcept { since_ = never; }
  /// A request was answered.
  void on_answer() noexcept;
  void on_session_over() noexcept;
  void on_failure(Failure failure, std::size_t addresses, Clock::duration session_timeout, Clock::time_point now,
                  std::uint64_t random) noexcept;
  /// The driver closes, the session is over, and the next one goes on without it.
  void part();
  /// The driver closes: no pause, and no attempt, may take all of the time that it has for that.
  void hurry(Clock::time_point now) noexcept;

  /// When the attempt that is under way began, or never.
  [[nodiscard]] Clock::time_point since() const noexcept { return since_; }
  [[nodiscard]] bool is_under_way() const noexcept { return since_ != never; }
  /// When the server has taken too long; only while an attempt is under way.
  [[nodiscard]] Clock::time_point overdue_at(Clock::duration session_timeout, std::size_t addresses) const noexcept;
  /// No attempt before this time.
  [[nodiscard]] Clock::time_point not_before() const noexcept { return not_before_; }
  /// The last thing that happened was an answer, not a failure.
  [[nodiscard]] bool is_well() const noexcept { return history_->failures == 0; }
  [[nodiscard]] LogLimit& log_limit() noexcept { return history_->log_limit; }

 private:
  [[nodiscard]] Clock::duration time_to_connect(Clock::duration session_timeout) const noexcept;

  Clock::duration jitter_;
  Clock::time_point since_ = never;
  Clock::time_point not_before_{};
  std::shared_ptr<ConnectHistory> history_;
  bool hurries_ = false;
  bool is_over_ = false;
  HandshakeLimit handshake_;
};

}  // namespace zklock

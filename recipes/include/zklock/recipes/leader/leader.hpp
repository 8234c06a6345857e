// A candidate of an election, as its node describes it; and the stream of leaders.
#pragma once

#include <zklock/detail/initiate.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace zklock {

/// A candidate; the first one in the wait queue leads.
struct Leader {
  std::string id;                  ///< the node's data, whatever program wrote them
  std::int64_t fencing_token = 0;  ///< the node's czxid
  std::int64_t session_id = 0;
  std::chrono::system_clock::time_point since;  ///< when it began to stand, on the server's clock
  std::string node_path;

  friend bool operator==(const Leader&, const Leader&) = default;
};

namespace detail {
class LeaderWatch;
asio::any_io_executor serial_executor(const LeaderWatch& watch);
asio::any_io_executor callback_executor(const LeaderWatch& watch);
void refuse_after_fork(const LeaderWatch& watch);
void start_next_leader(std::shared_ptr<LeaderWatch> watch, Handler<std::optional<Leader>> handler);
void abandon(const std::shared_ptr<LeaderWatch>& watch) noexcept;
}  // namespace detail

/// Tells which candidate is the first one, without standing: at once, and again when it is another one. std::nullopt:
/// there is none. A reader that is slow hears of the newest leader only. The first one may not know yet that it leads,
/// may be suspect, or may be about to step back for a candidate with a higher priority.
///
/// Over one stream tokens never fall. It costs one event and two reads for each change.
/// Threads: one at a time; any thread.
class LeaderStream {
 public:
  explicit LeaderStream(std::shared_ptr<detail::LeaderWatch> watch) noexcept : watch_{std::move(watch)} {}
  LeaderStream(LeaderStream&&) noexcept = default;
  LeaderStream& operator=(LeaderStream&& other) noexcept {
    if (this != &other) {
      detail::abandon(watch_);
      watch_ = std::move(other.watch_);
    }
    return *this;
  }
  /// A wait under way completes with operation_aborted.
  ~LeaderStream() { detail::abandon(watch_); }

  /// Waits for a leader that was not told yet.
  ///
  /// Signature     void(error_code, std::optional<Leader>)
  /// Completes     with the leader of now; at once if it was not told yet. Lost links and sessions are survived.
  /// Errors        Error::closing when the client is closed, Error::no_auth, Error::too_many_watches and whatever else
  ///               makes further looks useless: the stream has ended then; operation_aborted
  /// Cancellation  terminal, partial, total: nothing is lost.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, std::optional<Leader>)> Token = asio::deferred_t>
  auto async_next(Token&& token = {}) {
    return detail::initiate<void(error_code, std::optional<Leader>), &detail::start_next_leader>(
        std::forward<Token>(token), watch_);
  }

 private:
  std::shared_ptr<detail::LeaderWatch> watch_;
};

}  // namespace zklock

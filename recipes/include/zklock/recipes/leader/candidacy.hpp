// A candidate that stands for ever.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/detail/initiate.hpp>
#include <zklock/transaction.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace zklock {

enum class CandidacyState {
  waiting,  ///< it stands, or is about to
  leading,  ///< connected, and valid_until() is ahead
  suspect,  ///< the link is lost, but no other candidate leads before valid_until()
  lost      ///< another candidate may lead; it stands again
};

[[nodiscard]] std::string_view to_string(CandidacyState state) noexcept;

/// A change of a candidacy.
struct CandidacyEvent {
  CandidacyState state = CandidacyState::waiting;
  std::int64_t fencing_token = 0;  ///< of the leadership; 0 while it waits

  friend bool operator==(const CandidacyEvent&, const CandidacyEvent&) = default;
};

namespace detail {
class Candidacy;
asio::any_io_executor serial_executor(const Candidacy& candidacy);
asio::any_io_executor callback_executor(const Candidacy& candidacy);
void refuse_after_fork(const Candidacy& candidacy);
void start_next_candidacy_event(std::shared_ptr<Candidacy> candidacy, Handler<CandidacyEvent> handler);
void abandon(const std::shared_ptr<Candidacy>& candidacy) noexcept;
}  // namespace detail

/// Stands until it is destroyed: leads when its turn comes, and stands again when the leadership was lost. What Curator
/// has start(), hasLeadership() and listeners for. The destructor resigns in the background.
///
/// Threads: one at a time; any thread. The const functions may be called from any number of threads.
class CandidacyStream {
 public:
  explicit CandidacyStream(std::shared_ptr<detail::Candidacy> candidacy) noexcept : candidacy_{std::move(candidacy)} {}
  CandidacyStream(CandidacyStream&&) noexcept = default;
  CandidacyStream& operator=(CandidacyStream&& other) noexcept {
    if (this != &other) {
      detail::abandon(candidacy_);
      candidacy_ = std::move(other.candidacy_);
    }
    return *this;
  }
  ~CandidacyStream() { detail::abandon(candidacy_); }

  /// Waits for the next change. The first one is `waiting`. A reader that falls behind by more than 16 changes misses
  /// the oldest ones.
  ///
  /// Signature     void(error_code, CandidacyEvent)
  /// Completes     with the oldest change that was not told yet; at once if there is one.
  /// Errors        Error::closing when the client is closed, and the errors of LeaderElection::async_lead but for those
  ///               that a lost link or session explains: the candidacy has ended with it; operation_aborted
  /// Cancellation  terminal, partial, total: nothing is lost.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, CandidacyEvent)> Token = asio::deferred_t>
  auto async_next(Token&& token = {}) {
    return detail::initiate<void(error_code, CandidacyEvent), &detail::start_next_candidacy_event>(
        std::forward<Token>(token), candidacy_);
  }

  // As it is now, whatever was told so far. All of them ask node, session and clock.

  [[nodiscard]] CandidacyState state() const;
  [[nodiscard]] bool has_leadership() const { return state() == CandidacyState::leading; }
  /// time_point{} unless it is leading or suspect.
  [[nodiscard]] Clock::time_point valid_until() const;
  /// 0 unless it is leading or suspect.
  [[nodiscard]] std::int64_t fencing_token() const;
  /// As Leadership::guard. Throws boost::system::system_error: LockError::lock_lost unless it is leading or suspect.
  [[nodiscard]] Transaction guard() const;

 private:
  std::shared_ptr<detail::Candidacy> candidacy_;
};

}  // namespace zklock

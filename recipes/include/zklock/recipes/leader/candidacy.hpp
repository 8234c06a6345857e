// A candidate that stands for ever.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/event_stream.hpp>
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
}

/// Stands until it is destroyed: leads when its turn comes, and stands again when the leadership was lost. What Curator
/// has start(), hasLeadership() and listeners for. The destructor resigns in the background.
///
/// The stream tells each change; the first one is `waiting`. A reader that falls behind by more than 16 changes misses
/// the oldest ones. It ends with Error::closing when the client is closed, and with the errors of
/// LeaderElection::async_lead but for those that a lost link or session explains.
///
/// Threads: one at a time; any thread. The const functions may be called from any number of threads.
class CandidacyStream : public EventStream<CandidacyEvent> {
 public:
  CandidacyStream(std::shared_ptr<detail::EventSource<CandidacyEvent>> events,
                  std::shared_ptr<detail::Candidacy> candidacy) noexcept
      : EventStream{std::move(events)}, candidacy_{std::move(candidacy)} {}

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

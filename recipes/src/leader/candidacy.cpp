#include "candidacy.hpp"

#include "fail_lock.hpp"
#include "lease_events.hpp"
#include "trouble.hpp"

#include <zklock/detail/existing.hpp>
#include <zklock/timer.hpp>

#include <utility>

namespace zklock {

std::string_view to_string(CandidacyState state) noexcept {
  switch (state) {
    case CandidacyState::waiting: return "waiting";
    case CandidacyState::leading: return "leading";
    case CandidacyState::suspect: return "suspect";
    case CandidacyState::lost: return "lost";
  }
  return "unknown";
}

namespace detail {

namespace {

CandidacyState to_candidacy_state(LeaseState state) noexcept {
  switch (state) {
    case LeaseState::held: return CandidacyState::leading;
    case LeaseState::suspect: return CandidacyState::suspect;
    case LeaseState::lost:
    case LeaseState::released: break;
  }
  return CandidacyState::lost;
}

}  // namespace

Candidacy::Candidacy(std::shared_ptr<Candidate> candidate)
    : candidate_{std::move(candidate)}, events_{std::make_shared<Events>(home_of(*candidate_))} {}

CandidacyStream Candidacy::begin(std::shared_ptr<Candidate> candidate) {
  const auto serial = serial_executor(*candidate);
  auto self = std::make_shared<Candidacy>(std::move(candidate));
  self->events_->on_abandon = [weak = std::weak_ptr{self}] {
    if (const auto standing = weak.lock()) standing->stop();
  };
  asio::post(serial, [self, serial] {
    spawn_background(
        serial, run(self), [self](error_code error) { self->events_->end(error); }, self->stopping_.slot());
  });
  return CandidacyStream{self->events_, self};
}

void Candidacy::stop() {
  asio::post(serial_executor(*candidate_),  // behind the start
             [self = shared_from_this()] { self->stopping_.emit(asio::cancellation_type::terminal); });
}

std::shared_ptr<LeaseShare> Candidacy::share() const {
  const std::lock_guard lock{mutex_};
  return share_;
}

void Candidacy::keep(std::shared_ptr<LeaseShare> share) {
  const std::lock_guard lock{mutex_};
  share_.swap(share);
}

/// Tells what becomes of a leadership until it is lost. False: it was cancelled.
Awaitable<bool> Candidacy::stay(std::shared_ptr<LeaseShare> share) {
  for (LeaseState known = LeaseState::held;;) {
    events_->push({to_candidacy_state(known), share->held_lock().fencing_token()});
    if (known == LeaseState::lost) co_return true;
    const auto changed = co_await await_lease_state(share, known);
    if (!changed) co_return false;
    known = *changed;
  }
}

Awaitable<error_code> Candidacy::run(std::shared_ptr<Candidacy> self) {
  for (bool was_told = false;;) {
    if (!std::exchange(was_told, true)) self->events_->push({CandidacyState::waiting});
    auto leading = lead(self->candidate_, {}, Rank::own);
    auto leadership = co_await std::move(leading);
    if (leadership) {
      const Lease lease = std::move(*leadership).into_lease();  // resigns at the end of its life
      self->keep(lease.share());
      const bool goes_on = co_await self->stay(lease.share());
      self->keep(nullptr);
      if (!goes_on) co_return asio::error::operation_aborted;
      was_told = false;
      continue;
    }
    if (!is_passing(leadership.error())) co_return end_of_stream(leadership.error());
    Timer pause{serial_executor(*self->candidate_), pause_after_trouble};
    if (const auto [cancelled] = co_await pause.async_wait(use_tuple); cancelled) co_return cancelled;
  }
}

}  // namespace detail

using detail::existing;

CandidacyState CandidacyStream::state() const {
  static_cast<void>(existing(candidacy_));
  const auto share = candidacy_->share();
  return share ? detail::to_candidacy_state(share->state()) : CandidacyState::waiting;
}

Clock::time_point CandidacyStream::valid_until() const {
  const auto share = existing(candidacy_).share();
  return share ? share->valid_until() : Clock::time_point{};
}

std::int64_t CandidacyStream::fencing_token() const {
  const auto share = existing(candidacy_).share();
  return share && share->state() < LeaseState::lost ? share->held_lock().fencing_token() : 0;
}

Transaction CandidacyStream::guard() const {
  const auto share = existing(candidacy_).share();
  if (!share || share->state() >= LeaseState::lost)
    detail::fail_lock(make_error_code(LockError::lock_lost), candidacy_->candidate().core()->path());
  return share->guard();
}

}  // namespace zklock

#include "kept_state.hpp"

namespace zklock::detail {

namespace {

KeptStep when_free(KeptEvent event) noexcept {
  switch (event) {
    case KeptEvent::armed: return {KeptState::held, KeptAction::none};
    case KeptEvent::wanted: return {KeptState::free, KeptAction::enqueue};
    case KeptEvent::released:
    case KeptEvent::asked: break;
  }
  return {KeptState::free, KeptAction::none};
}

KeptStep when_held(KeptEvent event, bool has_waiters) noexcept {
  switch (event) {
    case KeptEvent::wanted: return {KeptState::held, KeptAction::wait};
    case KeptEvent::released:
      if (has_waiters) return {KeptState::held, KeptAction::hand_off};
      return {KeptState::kept, KeptAction::none};
    case KeptEvent::asked: return {KeptState::asked, KeptAction::flush};
    case KeptEvent::armed: break;
  }
  return {KeptState::held, KeptAction::none};
}

KeptStep when_kept(KeptEvent event) noexcept {
  switch (event) {
    case KeptEvent::wanted: return {KeptState::held, KeptAction::grant};
    case KeptEvent::asked: return {KeptState::free, KeptAction::remove};
    case KeptEvent::armed:
    case KeptEvent::released: break;
  }
  return {KeptState::kept, KeptAction::none};
}

/// It drains: no local acquire that comes now enters any more.
KeptStep when_asked(KeptEvent event, bool has_waiters) noexcept {
  switch (event) {
    case KeptEvent::wanted: return {KeptState::asked, KeptAction::enqueue};
    case KeptEvent::released:
      if (has_waiters) return {KeptState::asked, KeptAction::hand_off};
      return {KeptState::free, KeptAction::remove};
    case KeptEvent::asked: return {KeptState::asked, KeptAction::flush};
    case KeptEvent::armed: break;
  }
  return {KeptState::asked, KeptAction::none};
}

}  // namespace

KeptStep next_step(KeptState state, KeptEvent event, bool has_waiters) noexcept {
  switch (state) {
    case KeptState::free: return when_free(event);
    case KeptState::held: return when_held(event, has_waiters);
    case KeptState::kept: return when_kept(event);
    case KeptState::asked: break;
  }
  return when_asked(event, has_waiters);
}

}  // namespace zklock::detail

// How a client does: the state of its sessions, when a server has last answered, and how late its I/O runs.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/connection_state.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace zklock {

struct SessionHealth {
  SessionState state = SessionState::connecting;
  std::int64_t session_id = 0;          ///< 0: none yet
  std::chrono::milliseconds timeout{};  ///< as the server granted it; before that, as it was asked for
  /// When the latest request was sent that a server has answered, heartbeats included; also of the sessions before this
  /// one. Empty: no server has answered yet.
  std::optional<Clock::time_point> last_contact{};
  /// The servers keep the session, and the locks that it holds, at least until then. Empty while no lock is held.
  std::optional<Clock::time_point> valid_until{};
};

struct ClientHealth {
  ConnectionState state = ConnectionState::connecting;  ///< of all sessions together
  std::vector<SessionHealth> sessions{};                ///< by StateEvent::session_number
  /// How late the client's I/O was when it last looked. It looks while the client has observers: every second, or nine
  /// times in the session timeout, if that is shorter.
  std::optional<Clock::duration> io_delay{};
};

/// Whether ZooKeeper can be reached and written to.
[[nodiscard]] constexpr bool is_connected(ConnectionState state) noexcept {
  return state == ConnectionState::connected || state == ConnectionState::reconnected;
}

}  // namespace zklock

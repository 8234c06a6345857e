// The states of a session and of a client's connection.
#pragma once

#include <zklock/error.hpp>

#include <string_view>

namespace zklock {

/// One session's state. The last three are final.
enum class SessionState {
  connecting,  ///< not connected yet
  connected,
  suspended,    ///< the link is lost; the servers keep the session for a while
  read_only,    ///< connected to a server that has lost its quorum
  expired,      ///< ended by the servers, or so long without an answer that it counts as ended
  auth_failed,  ///< the servers refused the client's credentials
  closed        ///< ended by the client
};

[[nodiscard]] constexpr bool is_final(SessionState state) noexcept { return state >= SessionState::expired; }
[[nodiscard]] std::string_view to_string(SessionState state) noexcept;
/// The error of operations on a session in this final state.
[[nodiscard]] error_code error_of(SessionState state) noexcept;

/// A Client's connection state, in Curator's words.
enum class ConnectionState {
  connecting,   ///< no session yet
  connected,    ///< the first session is there
  suspended,    ///< the link is lost: whether locks are still held is unknown
  reconnected,  ///< the link is back: on the same session after suspended, on a new one after lost
  lost,  ///< the session is over and its locks with it; a new one is being made, unless the credentials were refused
  read_only,
  closed  ///< by Client::close
};

[[nodiscard]] std::string_view to_string(ConnectionState state) noexcept;

}  // namespace zklock

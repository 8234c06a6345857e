#include <zklock/connection_state.hpp>

namespace zklock {

std::string_view to_string(SessionState state) noexcept {
  switch (state) {
    case SessionState::connecting: return "connecting";
    case SessionState::connected: return "connected";
    case SessionState::suspended: return "suspended";
    case SessionState::read_only: return "read_only";
    case SessionState::expired: return "expired";
    case SessionState::auth_failed: return "auth_failed";
    case SessionState::closed: return "closed";
  }
  return "unknown";
}

std::string_view to_string(ConnectionState state) noexcept {
  switch (state) {
    case ConnectionState::connecting: return "connecting";
    case ConnectionState::connected: return "connected";
    case ConnectionState::suspended: return "suspended";
    case ConnectionState::reconnected: return "reconnected";
    case ConnectionState::lost: return "lost";
    case ConnectionState::read_only: return "read_only";
    case ConnectionState::closed: return "closed";
  }
  return "unknown";
}

error_code error_of(SessionState state) noexcept {
  switch (state) {
    case SessionState::expired: return make_error_code(Error::session_expired);
    case SessionState::auth_failed: return make_error_code(Error::auth_failed);
    default: return make_error_code(Error::closing);
  }
}

}  // namespace zklock

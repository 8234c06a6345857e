// Keeps a session's valid_until() ahead.
#pragma once

#include <zklock/session.hpp>

#include <memory>
#include <utility>

namespace zklock {

/// Is told when a session is no longer certainly alive, and of its link.
class LapseListener {
 public:
  virtual ~LapseListener() = default;
  /// The session is over, or its valid_until() has passed. May be called several times, on the session's executor.
  virtual void on_lapse() = 0;
  /// The session is `suspended`, or `connected` again. On the session's executor.
  virtual void on_link(SessionState) {}
};

/// While at least one of these objects exists, the session sends a `sync` every ninth of the session timeout. That
/// keeps valid_until() at least half of the timeout ahead, as long as the servers answer at once.
///
/// Threads: one at a time.
class [[nodiscard]] SessionRenewal {
 public:
  explicit SessionRenewal(const Session& session);
  /// As above; and tells the listener, within a ninth of the timeout, when the renewal was not enough. To be
  /// constructed on the session's executor.
  SessionRenewal(const Session& session, std::weak_ptr<LapseListener> listener);
  SessionRenewal(SessionRenewal&&) noexcept = default;
  SessionRenewal& operator=(SessionRenewal&& other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~SessionRenewal();

 private:
  std::shared_ptr<detail::SessionCore> core_;
};

}  // namespace zklock

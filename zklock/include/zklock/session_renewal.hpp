// Keeps a session's valid_until() ahead.
#pragma once

#include <zklock/session.hpp>

#include <memory>
#include <utility>

namespace zklock {

/// Is told when nothing proves any more that a session is alive.
class LapseListener {
 public:
  virtual ~LapseListener() = default;
  /// The session is over, or its valid_until() has passed. May be called several times; on the session's executor.
  virtual void on_lapse() = 0;
};

/// While one is kept, a sync every ninth of the session timeout keeps valid_until() half of the timeout ahead or more,
/// as long as the servers answer at once.
///
/// Threads: one at a time.
class [[nodiscard]] SessionRenewal {
 public:
  explicit SessionRenewal(const Session& session);
  /// And somebody hears when that has not been enough, within a ninth of the timeout. To be made on the session's
  /// executor.
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

// Keeps a session's valid_until() ahead.
#pragma once

#include <zklock/session.hpp>

#include <memory>
#include <utility>

namespace zklock {

/// While one is kept, a sync every ninth of the session timeout keeps valid_until() half of the timeout ahead or more,
/// as long as the servers answer.
///
/// Threads: one at a time.
class [[nodiscard]] SessionRenewal {
 public:
  explicit SessionRenewal(const Session& session);
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

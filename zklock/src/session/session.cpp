#include "session_core.hpp"

#include <zklock/detail/existing.hpp>
#include <zklock/session.hpp>
#include <zklock/session_renewal.hpp>

namespace zklock {

using detail::existing;

Session::executor_type Session::get_executor() const { return existing(core_).runtime().serial(); }
asio::any_io_executor Session::callback_executor() const { return existing(core_).runtime().callback_executor(); }
SessionState Session::state() const noexcept { return core_ ? core_->state() : SessionState::closed; }
SessionStateStream Session::states() const {
  detail::refuse_after_fork(existing(core_));
  return SessionStateStream{core_->subscribe()};
}
std::int64_t Session::id() const noexcept { return credentials().id; }
SessionCredentials Session::credentials() const {
  return core_ && !in_forked_child() ? core_->credentials() : SessionCredentials{};
}
Clock::time_point Session::valid_until() const noexcept {
  return core_ ? core_->valid_until() : Clock::time_point::min();
}
std::uint64_t Session::connection() const noexcept { return core_ ? core_->connection() : 0; }
std::string Session::full_path(const std::string& path) const {
  static_cast<void>(existing(core_));
  return detail::full_path(core_, path);
}
bool Session::in_forked_child() const noexcept { return core_ && core_->runtime().in_forked_child(); }
std::chrono::milliseconds Session::timeout() const noexcept {
  return core_ ? core_->timeout() : std::chrono::milliseconds::zero();
}

SessionRenewal::SessionRenewal(const Session& session) : core_{session.core_.core()} {
  existing(core_).begin_renewal();
}
SessionRenewal::SessionRenewal(const Session& session, std::weak_ptr<LapseListener> listener)
    : SessionRenewal{session} {
  core_->attend(std::move(listener));
}
SessionRenewal::~SessionRenewal() {
  if (core_) core_->end_renewal();
}

}  // namespace zklock

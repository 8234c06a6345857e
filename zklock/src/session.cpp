#include "session_core.hpp"

#include <zklock/session.hpp>

namespace zklock {

Session::executor_type Session::get_executor() const { return core_->runtime().serial(); }
asio::any_io_executor Session::callback_executor() const { return core_->runtime().callback_executor(); }
SessionState Session::state() const noexcept { return core_->state(); }
SessionStateStream Session::states() const { return SessionStateStream{core_->subscribe()}; }
std::int64_t Session::id() const noexcept { return core_->credentials().id; }
SessionCredentials Session::credentials() const { return core_->credentials(); }
std::string Session::full_path(const std::string& path) const { return detail::full_path(core_, path); }
bool Session::in_forked_child() const noexcept { return core_->runtime().in_forked_child(); }
std::chrono::milliseconds Session::timeout() const noexcept { return core_->timeout(); }

}  // namespace zklock

// A request to the holder of a lock to release it.
#pragma once

#include <zklock/client.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace zklock {

/// The data that a request writes to the node: Curator's word.
inline constexpr std::string_view revocation_request = "__REVOKE__";

namespace detail {
class RevocationTarget {
 public:
  explicit RevocationTarget(const ClientHandle& client) : client_{client} {}
  [[nodiscard]] const ClientHandle& client() const noexcept { return client_; }

 private:
  ClientHandle client_;
};
void start_attempt_revoke(std::shared_ptr<RevocationTarget> target, std::string node_path, Handler<> handler);
}  // namespace detail

/// Asks the holder of the lock by this node (LockParticipant::node_path) to release it: the holder's
/// Lease::async_wait_revocation completes. It is a request; the holder decides. Curator's Revoker; Curator's holders
/// receive it, too, if their lock is revocable.
///
/// Signature     void(error_code)
/// Completes     with success when the request is written to the node, and when the node is already gone.
/// Errors        Error::invalid_path, Error::no_auth, Error::not_connected, Error::connection_loss,
///               Error::session_expired, Error::closed, operation_aborted
/// Cancellation  terminal, partial, total; what was sent may still be done by the server.
/// Threads       any thread may call it; the handler runs on its associated executor.
template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
auto async_attempt_revoke(const ClientHandle& client, std::string node_path, Token&& token = {}) {
  return detail::initiate<void(error_code), &detail::start_attempt_revoke>(
      std::forward<Token>(token), std::make_shared<detail::RevocationTarget>(client), std::move(node_path));
}

/// As above, but blocks. Throws boost::system::system_error: the errors of async_attempt_revoke;
/// Error::blocking_in_handler where the client's own work would have to wait for this call;
/// Error::executor_not_running. It has no deadline.
void attempt_revoke(const ClientHandle& client, const std::string& node_path);

}  // namespace zklock

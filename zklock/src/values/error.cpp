#include <zklock/error.hpp>

#include <algorithm>
#include <iterator>
#include <string>

namespace zklock {
namespace {

/// What helps after the failure.
enum class Remedy { none, retry, new_session };

struct Row {
  Error error;
  Outcome outcome;
  Remedy remedy;
  const char* message;
};

constexpr auto definite = Outcome::not_applied;
constexpr auto ambiguous = Outcome::ambiguous;
constexpr auto none = Remedy::none;
constexpr auto retry = Remedy::retry;
constexpr auto new_session = Remedy::new_session;

using enum Error;

/// The one classification of errors; docs/errors.md has it in words.
constexpr Row table[] = {
    {system_error, ambiguous, retry, "the ZooKeeper client met an operating system error; read back, then try again"},
    {runtime_inconsistency, ambiguous, retry, "replies arrived out of order; read back, then try again"},
    {data_inconsistency, ambiguous, none, "the server found its data inconsistent; see its log"},
    {connection_loss, ambiguous, retry, "the connection to ZooKeeper was lost; read back, then try again"},
    {marshalling_error, ambiguous, none, "a message could not be encoded or decoded; see the server's log"},
    {unimplemented, definite, none, "the server does not know the operation; it may be too old or lack an option"},
    {operation_timeout, ambiguous, retry, "the ZooKeeper server did not answer; read back, then try again"},
    {bad_arguments, definite, none, "ZooKeeper refused an argument"},
    {invalid_state, definite, none, "the ZooKeeper handle cannot take requests any more"},
    {new_config_no_quorum, definite, none, "no quorum of the new configuration is connected"},
    {reconfig_in_progress, definite, none, "another reconfiguration is going on"},
    {no_node, definite, none, "the node does not exist"},
    {no_auth, definite, none, "the node's ACL does not allow it; check the credentials"},
    {bad_version, definite, none, "the node has another version by now; read it again"},
    {no_children_for_ephemerals, definite, none, "an ephemeral node cannot have children"},
    {node_exists, definite, none, "the node exists already"},
    {not_empty, definite, none, "the node has children; delete them first"},
    {session_expired, ambiguous, new_session, "the session has expired and its ephemeral nodes are gone; start over"},
    {invalid_callback, ambiguous, none, "ZooKeeper refused the callback"},
    {invalid_acl, definite, none, "ZooKeeper refused the ACL"},
    {auth_failed, ambiguous, new_session, "authentication failed; check the scheme and the credentials"},
    {closing, ambiguous, new_session, "the session was being closed; read back on another one"},
    {session_moved, definite, retry, "the session has moved to another server; try again"},
    {not_read_only, definite, none, "the server is in read-only mode: it has no quorum"},
    {ephemeral_on_local_session, definite, none, "a local session cannot create ephemeral nodes"},
    {no_watcher, definite, none, "there is no such watch"},
    {reconfig_disabled, definite, none, "reconfiguration is disabled on the server"},
    {session_closed_require_sasl_auth, ambiguous, new_session,
     "the server demands an authentication that was not made"},
    {quota_exceeded, definite, none, "the quota of the directory is used up; raise it or delete nodes"},
    {throttled_op, definite, retry, "the server is overloaded and dropped the request; wait, then try again"},
    {timed_out, ambiguous, none, "the deadline passed"},
    {would_deadlock, definite, none, "the call would wait for itself; release first or use another owner"},
    {closed, definite, none, "the client is closed"},
    {used_after_fork, definite, none, "the client was made before a fork; make another one in the child process"},
    {too_many_watches, definite, none, "the session has too many watches; use several sessions, or shorter paths"},
    {not_connected, definite, retry, "there was no connection to ZooKeeper, so nothing was sent; try again"},
    {too_many_operations, definite, retry, "too many operations are under way, so it was not begun; try again later"},
    {executor_not_running, ambiguous, none,
     "nothing runs the client's executor; run its io_context, or construct the Client without one"},
    {blocking_in_handler, definite, none,
     "a blocking call would hold up the client here; await its async_ form (async_acquire for lock)"},
    {empty_object, definite, none, "this object is empty: it never got anything, or it was moved from"},
    {rolled_back, definite, none, "another part of the transaction failed, so nothing was done"},
    {invalid_path, definite, none, "invalid path"},
    {invalid_name, definite, none, "invalid node name"},
    {invalid_client_id, definite, none, "invalid client id"},
    {invalid_connect_string, definite, none, "invalid connect string"},
    {invalid_timeout, definite, none, "invalid time-out"},
    {invalid_retry_policy, definite, none, "invalid retry policy"},
    {payload_too_large, definite, none, "the data is too large for one request"},
    {invalid_create_mode, definite, none, "invalid create mode"},
    {invalid_transaction, definite, none, "invalid transaction"},
    {invalid_handler, definite, none, "invalid handler: it is empty"},
    {protocol_error, ambiguous, none, "the server's answer makes no sense; is it a ZooKeeper server?"},
    {invalid_data, definite, none, "the node's data is not what it was read as"},
    {name_taken, definite, none, "another client has a node at the path; close that client, or use another name"},
    {overflow, definite, none, "the number would leave its range, so it was not changed"},
};

const Row* find(int number) noexcept {
  const auto* row = std::find_if(std::begin(table), std::end(table),
                                 [=](const Row& candidate) { return static_cast<int>(candidate.error) == number; });
  return row == std::end(table) ? nullptr : row;
}

const Row* find(error_code ec) noexcept { return ec.category() == error_category() ? find(ec.value()) : nullptr; }

class Category final : public ErrorCategory {
 public:
  const char* name() const noexcept override { return "zklock"; }

  std::string message(int number) const override {
    if (number == 0) return "success";
    const Row* row = find(number);
    return row ? row->message : "server error " + std::to_string(number);
  }

  Outcome outcome(int number) const noexcept override {
    const Row* row = find(number);
    return row ? row->outcome : Outcome::ambiguous;
  }

  /// The errors that std::timed_mutex and std::unique_lock also have.
  boost::system::error_condition default_error_condition(int number) const noexcept override {
    namespace errc = boost::system::errc;
    switch (static_cast<Error>(number)) {
      case timed_out: return errc::make_error_condition(errc::timed_out);
      case would_deadlock:
      case blocking_in_handler: return errc::make_error_condition(errc::resource_deadlock_would_occur);
      default: return {number, *this};
    }
  }
};

}  // namespace

const boost::system::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

error_code make_error_code(Error error) noexcept { return {static_cast<int>(error), error_category()}; }

Outcome outcome_of(error_code ec) noexcept {
  const auto* category = dynamic_cast<const ErrorCategory*>(&ec.category());
  return category ? category->outcome(ec.value()) : Outcome::ambiguous;
}

bool is_retryable(error_code ec) noexcept {
  const Row* row = find(ec);
  return row && row->remedy == Remedy::retry;
}

bool is_session_lost(error_code ec) noexcept {
  const Row* row = find(ec);
  return row && row->remedy == Remedy::new_session;
}

}  // namespace zklock

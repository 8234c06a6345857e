// Errors: the server's numbers and zklock's own.
#pragma once

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>

#include <type_traits>

namespace zklock {

using error_code = boost::system::error_code;

/// Why an operation failed. Negative values are ZooKeeper's (the server's and the C client's); positive ones are
/// zklock's.
///
/// Only cancellation by the caller gives boost::asio::error::operation_aborted. docs/errors.md says what each error
/// means and what to do about it.
///
/// timed_out compares equal to boost::system::errc::timed_out, would_deadlock and blocking_in_handler to
/// resource_deadlock_would_occur, as with the standard mutexes. operation_timeout does not: it reports trouble with ZooKeeper, not the caller's deadline.
enum class Error : int {
  // ZooKeeper: the connection and the session
  system_error = -1,
  runtime_inconsistency = -2,
  data_inconsistency = -3,
  connection_loss = -4,
  marshalling_error = -5,
  unimplemented = -6,
  operation_timeout = -7,
  bad_arguments = -8,
  invalid_state = -9,
  new_config_no_quorum = -13,
  reconfig_in_progress = -14,
  // ZooKeeper: the request
  no_node = -101,
  no_auth = -102,
  bad_version = -103,
  no_children_for_ephemerals = -108,
  node_exists = -110,
  not_empty = -111,
  session_expired = -112,
  invalid_callback = -113,
  invalid_acl = -114,
  auth_failed = -115,
  closing = -116,
  session_moved = -118,
  not_read_only = -119,
  ephemeral_on_local_session = -120,
  no_watcher = -121,
  reconfig_disabled = -123,
  session_closed_require_sasl_auth = -124,
  quota_exceeded = -125,
  throttled_op = -127,
  // zklock: operations and the Client
  timed_out = 1,       ///< the caller's deadline passed
  would_deadlock = 4,  ///< the call would wait for itself
  closed = 7,  ///< never sent: the Client is closed. Requests already at the server when it closed fail with `closing`
  used_after_fork = 8,        ///< refused: the Client belongs to the parent process
  too_many_watches = 9,       ///< refused: the session has too many watches to set again after a lost link
  rolled_back = 10,           ///< for a part of a transaction: another part failed, so nothing was done
  not_connected = 11,         ///< there was no connection to send the request on
  too_many_operations = 12,   ///< refused: ClientConfig::max_outstanding operations are under way
  executor_not_running = 13,  ///< a blocking call waited for the executor of the Client, where nothing ran
  blocking_in_handler = 14,   ///< refused: a blocking call on a thread that the Client's own work needs
  empty_object = 15,          ///< refused: the object never got anything, or it was moved from
  // zklock: arguments, refused before anything is sent
  invalid_path = 20,
  invalid_name = 22,
  invalid_client_id = 23,
  invalid_connect_string = 24,
  invalid_timeout = 25,
  invalid_retry_policy = 26,
  payload_too_large = 27,
  invalid_create_mode = 28,
  invalid_transaction = 29,
  invalid_handler = 30,
  // zklock: the rest
  protocol_error = 40,  ///< malformed reply
  invalid_data = 41,    ///< a node's data does not have the expected form
  name_taken = 42,      ///< another client has a node at the path
  overflow = 43,        ///< a number would leave its range
};

[[nodiscard]] const boost::system::error_category& error_category() noexcept;
[[nodiscard]] error_code make_error_code(Error error) noexcept;

/// What is known about a failed write. Source: the table of the C client's codes in docs/errors.md.
enum class Outcome {
  not_applied,  ///< definite: the server did not do it
  ambiguous     ///< it may or may not have been done: sync and read back before a retry
};

/// A category whose errors outcome_of() can classify: zklock's own ones. No two of these categories share a number.
class ErrorCategory : public boost::system::error_category {
 public:
  [[nodiscard]] virtual Outcome outcome(int number) const noexcept = 0;

 protected:
  ErrorCategory() = default;
  ErrorCategory(const ErrorCategory&) = delete;
  ErrorCategory& operator=(const ErrorCategory&) = delete;
  ~ErrorCategory() = default;
};

/// Tells whether the write that failed with `ec` may have been applied all the same. Unknown codes, of any category,
/// are ambiguous. So are the codes that end a session: every pending request gets them, whatever the server did with
/// it.
[[nodiscard]] Outcome outcome_of(error_code ec) noexcept;

/// True when the same operation may succeed later on the same session: a lost link, a busy server, a session that
/// moved. Whether a repetition is safe is a different question; outcome_of answers it.
[[nodiscard]] bool is_retryable(error_code ec) noexcept;

/// True when the session is over, and all of its ephemeral nodes are gone or will be soon: session_expired,
/// auth_failed, session_closed_require_sasl_auth and closing. After all of these but the first the server may keep the
/// ephemeral nodes for another session timeout.
///
/// False for `closed`, which is about the Client: there will be no other session. False for session_moved: the session
/// goes on. False for invalid_state: the driver knows whether the handle behind it can recover.
[[nodiscard]] bool is_session_lost(error_code ec) noexcept;

}  // namespace zklock

template <>
struct boost::system::is_error_code_enum<zklock::Error> : std::true_type {};

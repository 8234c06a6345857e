#include "error_names.hpp"

#include <zklock/recipes/locks/lock_error.hpp>

namespace zklock::detail {

namespace {

// The compiler warns of an enumerator that is not here.

std::string_view name_of(Error error) noexcept {
  switch (error) {
    using enum Error;
    case system_error: return "system_error";
    case runtime_inconsistency: return "runtime_inconsistency";
    case data_inconsistency: return "data_inconsistency";
    case connection_loss: return "connection_loss";
    case marshalling_error: return "marshalling_error";
    case unimplemented: return "unimplemented";
    case operation_timeout: return "operation_timeout";
    case bad_arguments: return "bad_arguments";
    case invalid_state: return "invalid_state";
    case new_config_no_quorum: return "new_config_no_quorum";
    case reconfig_in_progress: return "reconfig_in_progress";
    case no_node: return "no_node";
    case no_auth: return "no_auth";
    case bad_version: return "bad_version";
    case no_children_for_ephemerals: return "no_children_for_ephemerals";
    case node_exists: return "node_exists";
    case not_empty: return "not_empty";
    case session_expired: return "session_expired";
    case invalid_callback: return "invalid_callback";
    case invalid_acl: return "invalid_acl";
    case auth_failed: return "auth_failed";
    case closing: return "closing";
    case session_moved: return "session_moved";
    case not_read_only: return "not_read_only";
    case ephemeral_on_local_session: return "ephemeral_on_local_session";
    case no_watcher: return "no_watcher";
    case reconfig_disabled: return "reconfig_disabled";
    case session_closed_require_sasl_auth: return "session_closed_require_sasl_auth";
    case quota_exceeded: return "quota_exceeded";
    case throttled_op: return "throttled_op";
    case timed_out: return "timed_out";
    case would_deadlock: return "would_deadlock";
    case closed: return "closed";
    case used_after_fork: return "used_after_fork";
    case too_many_watches: return "too_many_watches";
    case rolled_back: return "rolled_back";
    case not_connected: return "not_connected";
    case too_many_operations: return "too_many_operations";
    case executor_not_running: return "executor_not_running";
    case blocking_in_handler: return "blocking_in_handler";
    case empty_object: return "empty_object";
    case invalid_path: return "invalid_path";
    case invalid_name: return "invalid_name";
    case invalid_client_id: return "invalid_client_id";
    case invalid_connect_string: return "invalid_connect_string";
    case invalid_timeout: return "invalid_timeout";
    case invalid_retry_policy: return "invalid_retry_policy";
    case payload_too_large: return "payload_too_large";
    case invalid_create_mode: return "invalid_create_mode";
    case invalid_transaction: return "invalid_transaction";
    case invalid_handler: return "invalid_handler";
    case protocol_error: return "protocol_error";
    case invalid_data: return "invalid_data";
    case name_taken: return "name_taken";
    case overflow: return "overflow";
  }
  return "zklock";
}

std::string_view name_of(LockError error) noexcept {
  switch (error) {
    using enum LockError;
    case lock_lost: return "lock_lost";
    case not_owner: return "not_owner";
    case sequence_exhausted: return "sequence_exhausted";
    case too_many_reentries: return "too_many_reentries";
    case invalid_lock_path: return "invalid_lock_path";
    case invalid_permits: return "invalid_permits";
    case mixed_lock_kinds: return "mixed_lock_kinds";
  }
  return "zklock.lock";
}

}  // namespace

std::string_view error_name(error_code error) noexcept {
  if (error.category() == error_category()) return name_of(static_cast<Error>(error.value()));
  if (error.category() == lock_error_category()) return name_of(static_cast<LockError>(error.value()));
  return error.category().name();
}

}  // namespace zklock::detail

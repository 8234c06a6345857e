#include "support/catch.hpp"
#include "support/enumerators.hpp"

#include <zklock/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/generic_category.hpp>
#include <boost/system/system_error.hpp>

#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using zklock::Error;
using zklock::error_code;
using zklock::Outcome;

namespace {

struct Row {
  std::string_view name;
  Error error;
  int number;
  Outcome outcome;
  std::string_view remedy = "none";  ///< "retry", "new session" or "none"
};

constexpr auto definite = Outcome::not_applied;
constexpr auto ambiguous = Outcome::ambiguous;

constexpr Row rows[] = {
    {"system_error", Error::system_error, -1, ambiguous, "retry"},
    {"runtime_inconsistency", Error::runtime_inconsistency, -2, ambiguous, "retry"},
    {"data_inconsistency", Error::data_inconsistency, -3, ambiguous},
    {"connection_loss", Error::connection_loss, -4, ambiguous, "retry"},
    {"marshalling_error", Error::marshalling_error, -5, ambiguous},
    {"unimplemented", Error::unimplemented, -6, definite},
    {"operation_timeout", Error::operation_timeout, -7, ambiguous, "retry"},
    {"bad_arguments", Error::bad_arguments, -8, definite},
    {"invalid_state", Error::invalid_state, -9, definite},
    {"new_config_no_quorum", Error::new_config_no_quorum, -13, definite},
    {"reconfig_in_progress", Error::reconfig_in_progress, -14, definite},
    {"no_node", Error::no_node, -101, definite},
    {"no_auth", Error::no_auth, -102, definite},
    {"bad_version", Error::bad_version, -103, definite},
    {"no_children_for_ephemerals", Error::no_children_for_ephemerals, -108, definite},
    {"node_exists", Error::node_exists, -110, definite},
    {"not_empty", Error::not_empty, -111, definite},
    {"session_expired", Error::session_expired, -112, ambiguous, "new session"},
    {"invalid_callback", Error::invalid_callback, -113, ambiguous},
    {"invalid_acl", Error::invalid_acl, -114, definite},
    {"auth_failed", Error::auth_failed, -115, ambiguous, "new session"},
    {"closing", Error::closing, -116, ambiguous, "new session"},
    {"session_moved", Error::session_moved, -118, definite, "retry"},
    {"not_read_only", Error::not_read_only, -119, definite},
    {"ephemeral_on_local_session", Error::ephemeral_on_local_session, -120, definite},
    {"no_watcher", Error::no_watcher, -121, definite},
    {"reconfig_disabled", Error::reconfig_disabled, -123, definite},
    {"session_closed_require_sasl_auth", Error::session_closed_require_sasl_auth, -124, ambiguous, "new session"},
    {"quota_exceeded", Error::quota_exceeded, -125, definite},
    {"throttled_op", Error::throttled_op, -127, definite, "retry"},
    {"timed_out", Error::timed_out, 1, ambiguous},
    {"would_deadlock", Error::would_deadlock, 4, definite},
    {"closed", Error::closed, 7, definite},
    {"used_after_fork", Error::used_after_fork, 8, definite},
    {"too_many_watches", Error::too_many_watches, 9, definite},
    {"rolled_back", Error::rolled_back, 10, definite},
    {"not_connected", Error::not_connected, 11, definite, "retry"},
    {"executor_not_running", Error::executor_not_running, 13, ambiguous},
    {"blocking_in_handler", Error::blocking_in_handler, 14, definite},
    {"empty_object", Error::empty_object, 15, definite},
    {"too_many_operations", Error::too_many_operations, 12, definite, "retry"},
    {"invalid_path", Error::invalid_path, 20, definite},
    {"invalid_name", Error::invalid_name, 22, definite},
    {"invalid_client_id", Error::invalid_client_id, 23, definite},
    {"invalid_connect_string", Error::invalid_connect_string, 24, definite},
    {"invalid_timeout", Error::invalid_timeout, 25, definite},
    {"invalid_retry_policy", Error::invalid_retry_policy, 26, definite},
    {"payload_too_large", Error::payload_too_large, 27, definite},
    {"invalid_create_mode", Error::invalid_create_mode, 28, definite},
    {"invalid_transaction", Error::invalid_transaction, 29, definite},
    {"invalid_handler", Error::invalid_handler, 30, definite},
    {"protocol_error", Error::protocol_error, 40, ambiguous},
    {"invalid_data", Error::invalid_data, 41, definite},
    {"name_taken", Error::name_taken, 42, definite},
    {"overflow", Error::overflow, 43, definite},
};

bool starts_with_number(const std::string& message) { return message.starts_with("server error "); }

}  // namespace

TEST_CASE("every enumerator has a row in the table of errors") {
  std::set<std::string_view> expected;
  for (const Row& row : rows) expected.insert(row.name);
  CHECK(expected.size() == std::size(rows));
  CHECK(zklock::test::names_of_enumerators<Error>() == expected);
}

TEST_CASE("every error has its number, its class, its remedy and its own message") {
  std::set<std::string> messages;
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const error_code ec = row.error;
    CHECK(ec.value() == row.number);
    CHECK(ec.category() == zklock::error_category());
    CHECK(ec.failed());
    CHECK(zklock::outcome_of(ec) == row.outcome);
    CHECK(zklock::is_retryable(ec) == (row.remedy == "retry"));
    CHECK(zklock::is_session_lost(ec) == (row.remedy == "new session"));
    CHECK_FALSE(starts_with_number(ec.message()));
    CHECK(messages.insert(ec.message()).second);
  }
}

TEST_CASE("a message is a short fragment of a sentence") {
  for (const Row& row : rows) {
    const auto message = error_code(row.error).message();
    CAPTURE(row.name, message);
    CHECK(message.size() >= 10);
    CHECK(message.size() <= 100);
    CHECK_FALSE(message.ends_with('.'));
    CHECK((message.starts_with("ZooKeeper") || std::islower(static_cast<unsigned char>(message.front()))));
  }
}

TEST_CASE("an unknown number is a server error, ambiguous and without remedy") {
  for (const int number : {-2'147'483'647 - 1, -1000, -126, -122, -117, -100, -15, -10, 16, 19, 49, 2'147'483'647}) {
    const error_code ec{number, zklock::error_category()};
    CAPTURE(number);
    CHECK(ec.message() == "server error " + std::to_string(number));
    CHECK(zklock::outcome_of(ec) == ambiguous);
    CHECK_FALSE(zklock::is_retryable(ec));
    CHECK_FALSE(zklock::is_session_lost(ec));
  }
}

TEST_CASE("a failure of any other category is ambiguous and without remedy") {
  namespace errc = boost::system::errc;
  const std::vector<error_code> others{boost::asio::error::operation_aborted,
                                       boost::asio::error::connection_reset,
                                       errc::make_error_code(errc::timed_out),
                                       {-110, boost::system::generic_category()},
                                       {-4, boost::system::system_category()}};
  for (const error_code& ec : others) {
    CAPTURE(ec.to_string());
    CHECK(zklock::outcome_of(ec) == ambiguous);
    CHECK_FALSE(zklock::is_retryable(ec));
    CHECK_FALSE(zklock::is_session_lost(ec));
  }
}

TEST_CASE("the errors of the standard mutexes equal theirs, and no other equals any") {
  namespace errc = boost::system::errc;
  CHECK(error_code(Error::timed_out) == errc::timed_out);
  CHECK(error_code(Error::would_deadlock) == errc::resource_deadlock_would_occur);
  CHECK(error_code(Error::blocking_in_handler) == errc::resource_deadlock_would_occur);
  for (const Row& row : rows) {
    const auto condition = error_code(row.error).default_error_condition();
    const bool standard = condition.category() == boost::system::generic_category();
    CAPTURE(row.name);
    CHECK(standard == (row.number == 1 || row.number == 4 || row.number == 14));
  }
}

TEST_CASE("the category has a name, and success is no failure") {
  CHECK(zklock::error_category().name() == std::string("zklock"));
  const error_code success{0, zklock::error_category()};
  CHECK_FALSE(success.failed());
  CHECK(success.message() == "success");
}

TEST_CASE("an exception carries the code and says why") {
  const boost::system::system_error exception{Error::no_node, "get /a"};
  CHECK(exception.code() == Error::no_node);
  CHECK(std::string(exception.what()).starts_with("get /a: the node does not exist"));
}

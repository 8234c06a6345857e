#include "support/catch.hpp"
#include "support/enumerators.hpp"

#include <zklock/recipes/locks/lock_error.hpp>

#include <boost/system/errc.hpp>

#include <set>
#include <string>
#include <string_view>

using zklock::error_code;
using zklock::LockError;
using zklock::Outcome;

namespace {

struct Row {
  std::string_view name;
  LockError error;
  int number;
  Outcome outcome = Outcome::not_applied;
};

constexpr Row rows[] = {
    {"lock_lost", LockError::lock_lost, 2, Outcome::ambiguous},
    {"not_owner", LockError::not_owner, 3},
    {"sequence_exhausted", LockError::sequence_exhausted, 5},
    {"too_many_reentries", LockError::too_many_reentries, 6},
    {"invalid_lock_path", LockError::invalid_lock_path, 21},
    {"invalid_permits", LockError::invalid_permits, 31},
    {"mixed_lock_kinds", LockError::mixed_lock_kinds, 32},
};

}  // namespace

TEST_CASE("every lock error has a row in its table") {
  std::set<std::string_view> expected;
  for (const Row& row : rows) expected.insert(row.name);
  CHECK(zklock::test::names_of_enumerators<LockError>() == expected);
}

TEST_CASE("every lock error has its number, its class and its own message, and none is trouble with ZooKeeper") {
  std::set<std::string> messages;
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const error_code ec = row.error;
    CHECK(ec.value() == row.number);
    CHECK(ec.category() == zklock::lock_error_category());
    CHECK(zklock::outcome_of(ec) == row.outcome);
    CHECK_FALSE(zklock::is_retryable(ec));
    CHECK_FALSE(zklock::is_session_lost(ec));
    CHECK(ec.message().size() >= 10);
    CHECK(ec.message().size() <= 100);
    CHECK(messages.insert(ec.message()).second);
    const bool is_standard = ec == boost::system::errc::operation_not_permitted;
    CHECK(is_standard == (ec == LockError::not_owner));
  }
}

TEST_CASE("a number is an error of the client or of a lock, never of both") {
  for (const Row& row : rows) {
    const error_code of_client{row.number, zklock::error_category()};
    CAPTURE(row.name);
    CHECK(of_client != row.error);
    CHECK(of_client.message() == "server error " + std::to_string(row.number));
  }
}

TEST_CASE("an unknown lock error is ambiguous") {
  const error_code unknown{1, zklock::lock_error_category()};
  CHECK(unknown.message() == "lock error 1");
  CHECK(zklock::outcome_of(unknown) == Outcome::ambiguous);
}

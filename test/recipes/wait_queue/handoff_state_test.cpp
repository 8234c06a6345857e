// The local handoff, as tables.
#include "handoff_state.hpp"

#include "support/catch.hpp"

#include <zklock/recipes/locks/lock_error.hpp>

#include <ostream>

using namespace zklock;

namespace zklock {

std::ostream& operator<<(std::ostream& out, const HandoffStep& step) {
  return out << "state " << static_cast<int>(step.next.state) << ", fact " << static_cast<int>(step.next.fact)
             << ", action " << static_cast<int>(step.action);
}

}  // namespace zklock

namespace {

constexpr auto unknown = NodeFact::unknown;
constexpr auto exists = NodeFact::exists;
constexpr auto missing = NodeFact::missing;

constexpr Handoff not_taken{};
constexpr Handoff taken{HandoffState::taken};
constexpr Handoff awaited{HandoffState::awaited};
constexpr Handoff told(NodeFact fact) { return {HandoffState::told, fact}; }

constexpr auto none = HandoffAction::none;
constexpr auto keep = HandoffAction::keep;
constexpr auto lose = HandoffAction::lose;
constexpr auto ask_server = HandoffAction::ask_server;

}  // namespace

TEST_CASE("a server's reply tells that a node exists, that it does not, or nothing") {
  CHECK(fact_of({}) == exists);
  CHECK(fact_of(Error::no_node) == missing);
  CHECK(fact_of(Error::connection_loss) == unknown);
  CHECK(fact_of(Error::session_expired) == unknown);
  CHECK(fact_of(Error::runtime_inconsistency) == unknown);
}

TEST_CASE("a waiter whose predecessor leaves will be told") {
  for (const Handoff before : {not_taken, taken, told(exists), told(missing)}) CHECK(on_taken(before) == taken);
  CHECK(on_taken(awaited) == awaited);
}

TEST_CASE("a lease does what the handoff to its node tells, and asks the server where it does not tell") {
  struct Row {
    Handoff before;
    HandoffStep after;
  };
  const Row rows[] = {
      {not_taken, {not_taken, ask_server}},  // no handoff will tell
      {taken, {awaited, none}},              // it will: the reply is under way
      {awaited, {awaited, none}},
      {told(exists), {told(exists), keep}},
      {told(missing), {told(missing), lose}},
      {told(unknown), {told(unknown), ask_server}},
  };
  for (const Row& row : rows) CHECK(on_granted(row.before) == row.after);
}

TEST_CASE("what a handoff tells is kept for a waiter, and acted on for a lease") {
  struct Row {
    Handoff before;
    NodeFact fact;
    HandoffStep after;
  };
  const Row rows[] = {
      {taken, exists, {told(exists), none}},     {taken, missing, {told(missing), none}},
      {taken, unknown, {told(unknown), none}},   {awaited, exists, {told(exists), keep}},
      {awaited, missing, {told(missing), lose}}, {awaited, unknown, {told(unknown), ask_server}},
      {not_taken, exists, {not_taken, none}},  // it has looked at the queue since
      {not_taken, missing, {not_taken, none}},   {told(unknown), exists, {told(exists), none}},
  };
  for (const Row& row : rows) CHECK(on_told(row.before, row.fact) == row.after);
}

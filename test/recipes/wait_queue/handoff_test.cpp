// The local handoff, as tables.
#include "handoff.hpp"

#include "support/catch.hpp"

#include <zklock/recipes/locks/lock_error.hpp>

#include <ostream>

using namespace zklock;

namespace zklock {

std::ostream& operator<<(std::ostream& out, const Handoff& handoff) {
  return out << "state " << static_cast<int>(handoff.state) << ", fact " << static_cast<int>(handoff.fact);
}

}  // namespace zklock

namespace {

constexpr auto unknown = NodeFact::unknown;
constexpr auto exists = NodeFact::exists;
constexpr auto missing = NodeFact::missing;

constexpr Handoff not_taken{};
constexpr Handoff taken{HandoffState::taken};
constexpr Handoff awaited{HandoffState::awaited};
constexpr Handoff known(NodeFact fact) { return {HandoffState::known, fact}; }

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
  const auto after_taken = [](Handoff handoff) {
    handoff.on_taken();
    return handoff;
  };
  for (const Handoff before : {not_taken, taken, known(exists), known(missing)}) CHECK(after_taken(before) == taken);
  CHECK(after_taken(awaited) == awaited);
}

TEST_CASE("a lease does what the handoff to its node tells, and asks the server where it does not tell") {
  struct Row {
    Handoff before;
    Handoff after;
    HandoffAction action;
  };
  const Row rows[] = {
      {not_taken, not_taken, ask_server},  // no handoff will tell
      {taken, awaited, none},              // it will: the reply is under way
      {awaited, awaited, none},
      {known(exists), known(exists), keep},
      {known(missing), known(missing), lose},
      {known(unknown), known(unknown), ask_server},
  };
  for (const Row& row : rows) {
    Handoff handoff = row.before;
    CHECK(handoff.on_granted() == row.action);
    CHECK(handoff == row.after);
  }
}

TEST_CASE("what a handoff tells is kept for a waiter, and acted on for a lease") {
  struct Row {
    Handoff before;
    NodeFact fact;
    Handoff after;
    HandoffAction action;
  };
  const Row rows[] = {
      {taken, exists, known(exists), none},     {taken, missing, known(missing), none},
      {taken, unknown, known(unknown), none},   {awaited, exists, known(exists), keep},
      {awaited, missing, known(missing), lose}, {awaited, unknown, known(unknown), ask_server},
      {not_taken, exists, not_taken, none},  // it has looked at the queue since
      {not_taken, missing, not_taken, none},    {known(unknown), exists, known(exists), none},
  };
  for (const Row& row : rows) {
    Handoff handoff = row.before;
    CHECK(handoff.on_reply(row.fact) == row.action);
    CHECK(handoff == row.after);
  }
}

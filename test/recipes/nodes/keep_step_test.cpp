// What is done about the path of a node that is to be kept.
#include "keep_step.hpp"

#include "support/catch.hpp"

using namespace zklock;

namespace {

using enum NodeOwner;

constexpr auto wait = NodeConflict::wait;
constexpr auto fail = NodeConflict::fail;
constexpr auto take_over = NodeConflict::take_over;

}  // namespace

TEST_CASE("a kept node is replaced unasked only if an earlier session of its client has left it") {
  struct Row {
    bool wants_ephemeral;
    NodeConflict conflict;
    PathSeen seen;
    KeepStep step;
  };
  const Row rows[] = {
      {true, wait, {false}, KeepStep::create},
      {true, fail, {false}, KeepStep::create},
      {true, take_over, {false, no_session, true}, KeepStep::create},
      {true, wait, {true, this_session}, KeepStep::keep},
      {true, fail, {true, this_session}, KeepStep::keep},
      {true, take_over, {true, this_session, true}, KeepStep::keep},
      {true, wait, {true, earlier_session}, KeepStep::replace},
      {true, fail, {true, earlier_session}, KeepStep::replace},
      {true, take_over, {true, earlier_session, true}, KeepStep::replace},
      {true, wait, {true, foreign_session}, KeepStep::wait},
      {true, fail, {true, foreign_session}, KeepStep::give_up},
      {true, take_over, {true, foreign_session}, KeepStep::replace},
      {true, take_over, {true, foreign_session, true}, KeepStep::wait},
      {true, wait, {true, no_session}, KeepStep::wait},
      {true, fail, {true, no_session}, KeepStep::give_up},
      {true, take_over, {true, no_session}, KeepStep::replace},
      {true, take_over, {true, no_session, true}, KeepStep::wait},
      {false, wait, {false}, KeepStep::create},
      {false, wait, {true, no_session}, KeepStep::keep},
      {false, fail, {true, no_session}, KeepStep::keep},
      {false, wait, {true, this_session}, KeepStep::wait},
      {false, wait, {true, earlier_session}, KeepStep::wait},
      {false, wait, {true, foreign_session}, KeepStep::wait},
      {false, fail, {true, foreign_session}, KeepStep::give_up},
      {false, take_over, {true, foreign_session}, KeepStep::replace},
      {false, take_over, {true, foreign_session, true}, KeepStep::wait},
  };
  for (const Row& row : rows) {
    INFO("ephemeral " << row.wants_ephemeral << ", conflict " << static_cast<int>(row.conflict) << ", exists "
                      << row.seen.exists << ", owner " << static_cast<int>(row.seen.owner) << ", took over "
                      << row.seen.took_over);
    CHECK(next_step(row.wants_ephemeral, row.conflict, row.seen) == row.step);
  }
}

TEST_CASE("the owner of a node is a session, the client's or another one, or none") {
  OwnSessions earlier;
  earlier.add(7);
  earlier.add(8);
  earlier.add(7);
  CHECK(owner_of(0, 9, earlier) == no_session);
  CHECK(owner_of(9, 9, earlier) == this_session);
  CHECK(owner_of(7, 9, earlier) == earlier_session);
  CHECK(owner_of(8, 8, earlier) == this_session);
  CHECK(owner_of(6, 9, earlier) == foreign_session);
  CHECK(owner_of(INT64_MIN + 5, 9, earlier) == foreign_session);  // a server of a great number has made it
}

TEST_CASE("a client remembers its last sessions, and not all of them") {
  OwnSessions sessions;
  for (std::int64_t session = 1; session <= 1000; ++session) sessions.add(session);
  CHECK(sessions.contain(1000));
  CHECK(sessions.contain(1000 - 63));
  CHECK_FALSE(sessions.contain(1000 - 64));
  CHECK_FALSE(sessions.contain(1));
}

// zklock count.
#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/program_setup.hpp"

#include <zklock/recipes/counters/distributed_atomic.hpp>

using namespace zklock;
using namespace zklock::test;

TEST_CASE_METHOD(ProgramSetup, "zklock count shows a counter, adds to it, and leaves nothing else") {
  const auto said = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"count", path});
    const ProgramOutcome outcome = zklock(std::move(options));
    CHECK(outcome.status == 0);
    return outcome.output;
  };
  CHECK(said({}) == "0\n");
  CHECK(said({"--add", "5"}) == "5\n");
  CHECK(said({"--add", "-7"}) == "-2\n");
  CHECK(said({"--add=40"}) == "38\n");
  const Client client = make_client(server);
  const DistributedAtomicLong counter{client, path};
  CHECK(counter.get() == 38);
  CHECK(children_of(connected_session(client), client.config().ledger_path).empty());
}

TEST_CASE_METHOD(ProgramSetup, "zklock count refuses what is no number, and a sum out of range changes nothing") {
  CHECK(zklock({"count", "no-path"}).status == exit_status::usage);
  CHECK(zklock({"count", path, "--add", "much"}).status == exit_status::usage);
  CHECK(zklock({"count", path, "--add", "9223372036854775807"}).status == 0);
  const ProgramOutcome over = zklock({"count", path, "--add", "1"});
  CHECK(over.status == exit_status::unavailable);
  CHECK(over.complains("range"));
  CHECK(zklock({"count", path}).output == "9223372036854775807\n");
  const Client client = make_client(server);
  REQUIRE_FALSE(std::get<0>(set_data(client, path, "no number")));
  CHECK(zklock({"count", path}).status == exit_status::unavailable);
}

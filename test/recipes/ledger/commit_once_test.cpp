// async_commit_once on the fake ensemble: what it costs, what it leaves behind.
#include "support/follow_stage.hpp"

#include <zklock/recipes/ledger/commit_once.hpp>

#include <set>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

using Requests = std::map<std::string, int>;

const std::string ledger = "/zklock/ledger";

struct Fixture : FollowStage {
  std::tuple<error_code, CommitOnceResult> once(Transaction work) {
    return outcome<CommitOnceResult>([&](auto token) { async_commit_once(reader, work, std::move(token)); }).value();
  }
  std::tuple<error_code, CommitOnceResult> once(Transaction work, const IdempotencyKey& key) {
    return outcome<CommitOnceResult>([&](auto token) { async_commit_once(reader, work, key, std::move(token)); })
        .value();
  }
  [[nodiscard]] std::vector<std::string> below(const std::string& directory) const {
    std::vector<std::string> found;
    for (const testing::FakeNode& node : ensemble.nodes())
      if (node.path.starts_with(directory + "/")) found.push_back(node.path);
    return found;
  }
  /// Loses the reply of the next transaction, or the transaction itself.
  void lose(bool applied) {
    ensemble.on_call([done = false, applied, asked = asked](const testing::FakeCall& call) mutable {
      if (!call.applied && call.operation != "connect") ++(*asked)[std::string{call.operation}];
      const bool strikes = !done && call.operation == "commit" && call.applied == applied;
      done = done || strikes;
      return strikes ? testing::FakeFault::cut : testing::FakeFault::none;
    });
  }
};

Transaction setting(const std::string& path, const std::string& data, std::int32_t version = any_version) {
  Transaction work;
  work.set_data(path, data, version);
  return work;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a transaction costs one request, and one client has one slot for one after the other") {
  create("/a");
  CHECK_FALSE(std::get<0>(once(setting("/a", "1"))));
  requests();
  const auto [error, done] = once(setting("/a", "2"));
  REQUIRE_FALSE(error);
  CHECK(requests() == Requests{{"commit", 1}});
  REQUIRE(done.results.size() == 1);
  CHECK(done.results[0].stat.version == 2);
  CHECK(below(ledger).size() == 1);
}

TEST_CASE_METHOD(Fixture, "transactions at once have a slot each, which later ones use again") {
  create("/a");
  int ended = 0;
  const auto commit_some = [&] {
    for (int i = 0; i < 5; ++i)
      async_commit_once(reader, setting("/a", "x"),
                        asio::bind_executor(simulation.executor(), [&](error_code error, const CommitOnceResult&) {
                          CHECK_FALSE(error);
                          ++ended;
                        }));
    run();
  };
  commit_some();
  commit_some();
  CHECK(ended == 10);
  CHECK(below(ledger).size() == 5);
}

TEST_CASE_METHOD(Fixture, "a client that is closed leaves no slots") {
  create("/a");
  CHECK_FALSE(std::get<0>(once(setting("/a", "1"))));
  CHECK(outcome<>([&](auto token) { reader.async_close(std::move(token)); }));
  CHECK(below(ledger).empty());
}

TEST_CASE_METHOD(Fixture, "a client that is closed after a transaction that found no session leaves no slots") {
  create("/a");
  CHECK_FALSE(std::get<0>(once(setting("/a", "1"))));
  ensemble.refuse_connections();
  ensemble.cut_all();
  std::optional<error_code> failed;
  async_commit_once(
      reader, setting("/a", "2"),
      asio::bind_executor(simulation.executor(), [&](error_code error, const CommitOnceResult&) { failed = error; }));
  run(120s);
  REQUIRE(failed);
  CHECK(*failed);
  ensemble.accept_connections();
  run(120s);
  CHECK(outcome<>([&](auto token) { reader.async_close(std::move(token)); }));
}

TEST_CASE_METHOD(Fixture, "a transaction that is too large is refused at once, and costs no slot") {
  create("/a");
  for (int i = 0; i < 3; ++i)
    CHECK(std::get<0>(once(setting("/a", std::string(2'000'000, 'x')))) == Error::payload_too_large);
  CHECK(below(ledger).size() <= 1);
  CHECK_FALSE(std::get<0>(once(setting("/a", "2"))));
  CHECK(below(ledger).size() == 1);
}

TEST_CASE_METHOD(Fixture, "when the reply is lost the ledger tells that the transaction was carried out") {
  create("/a");
  CHECK_FALSE(std::get<0>(once(setting("/a", "1"))));
  requests();
  lose(true);
  Transaction work = setting("/a", "2");
  work.create("/b", "");
  work.create("/c-", "", CreateMode::persistent_sequential);
  std::optional<CommitOnceResult> done;
  async_commit_once(reader, work, asio::bind_executor(simulation.executor(), [&](error_code error, CommitOnceResult r) {
                      CHECK_FALSE(error);
                      done = std::move(r);
                    }));
  run(5s);
  REQUIRE(done);
  REQUIRE(done->results.size() == 3);
  CHECK(done->results[1].path == "/b");
  CHECK(done->results[2].path.empty());
  CHECK(requests()["commit"] == 1);
}

TEST_CASE_METHOD(Fixture, "a transaction that is refused says which part has failed, and the slot is used again") {
  create("/a");
  Transaction work = setting("/a", "1");
  work.check("/missing");
  const auto [error, done] = once(work);
  CHECK(error == Error::no_node);
  REQUIRE(done.results.size() == 2);
  CHECK(done.results[0].error == Error::rolled_back);
  CHECK(done.results[1].error == Error::no_node);
  CHECK_FALSE(std::get<0>(once(setting("/a", "2"))));
  CHECK(below(ledger).size() == 1);
  CHECK(std::get<0>(once(Transaction{})) == error_code{});
  Transaction bad;
  bad.set_data("relative", "");
  CHECK(std::get<0>(once(bad)) == Error::invalid_transaction);
}

TEST_CASE_METHOD(Fixture,
                 "a transaction that a repeat was refused is not told as done, though the reply to its end is lost") {
  create("/a");
  CHECK_FALSE(std::get<0>(once(setting("/a", "1"))));
  ensemble.on_call([lost = std::set<std::string>{}](const testing::FakeCall& call) mutable {
    const bool strikes =
        (call.operation == "commit" && !call.applied) || (call.operation == "set_data" && call.applied);
    return strikes && lost.emplace(call.operation).second ? testing::FakeFault::cut : testing::FakeFault::none;
  });
  Transaction work = setting("/a", "2");
  work.check("/missing");
  std::optional<error_code> ended;
  async_commit_once(reader, work,
                    asio::bind_executor(simulation.executor(), [&](error_code error, auto&&...) { ended = error; }));
  run(5s);
  CHECK(ended == Error::no_node);
}

TEST_CASE_METHOD(Fixture, "a slot that an operator deletes, or another program writes to, does no harm") {
  create("/a");
  CHECK_FALSE(std::get<0>(once(setting("/a", "1"))));
  remove(below(ledger).front());
  CHECK_FALSE(std::get<0>(once(setting("/a", "2"))));
  set(below(ledger).front(), "hello");
  CHECK_FALSE(std::get<0>(once(setting("/a", "3"))));
}

TEST_CASE_METHOD(Fixture, "slots that nobody has used for a day are swept by the next client, keys after a week") {
  create("/a");
  CHECK_FALSE(std::get<0>(once(setting("/a", "1"), IdempotencyKey{"old"})));
  reader.abort();
  run(20s);
  simulation.clock().run_for(simulation.context(), 23h);
  auto& second = simulation.client("second", {.session_timeout = 10s});
  run(1s);
  const auto work = setting("/a", "2");
  CHECK(outcome<CommitOnceResult>([&](auto token) { async_commit_once(second, work, std::move(token)); }));
  run(1s);
  CHECK(below(ledger).size() == 4);  // keys, the key, the slot of the dead, its own
  simulation.clock().run_for(simulation.context(), 2h);
  auto& third = simulation.client("third", {.session_timeout = 10s});
  run(1s);
  CHECK(outcome<CommitOnceResult>([&](auto token) { async_commit_once(third, work, std::move(token)); }));
  run(1s);
  CHECK(below(ledger).size() == 4);  // that of the dead is gone
  CHECK(below(ledger + "/keys").size() == 1);
}

TEST_CASE_METHOD(Fixture, "a repeat with the same key gets the first answer and does nothing") {
  create("/a");
  const auto [error, first] = once(setting("/a", "1"), IdempotencyKey{"/orders/4711", "first"});
  REQUIRE_FALSE(error);
  CHECK_FALSE(first.is_repeat);
  CHECK(first.answer == "first");
  CHECK(first.results.size() == 1);
  const auto [none, second] = once(setting("/a", "2"), IdempotencyKey{"/orders/4711", "second"});
  REQUIRE_FALSE(none);
  CHECK(second.is_repeat);
  CHECK(second.answer == "first");
  CHECK(below(ledger + "/keys") == std::vector<std::string>{ledger + "/keys/%2Forders%2F4711"});
  CHECK(std::get<0>(once(setting("/a", "3"), IdempotencyKey{""})) == Error::invalid_name);
  CHECK(std::get<0>(once(setting("/a", "3"), IdempotencyKey{std::string{"\0", 1}})) == Error::invalid_name);
}

TEST_CASE_METHOD(Fixture, "the ledger of a namespace is in it, and the ledger's place can be chosen") {
  auto& client = simulation.client("other", {.session_timeout = 10s, .ledger_path = "/books"});
  run(1s);
  const ClientHandle below_app = client.using_namespace("app");
  Transaction work;
  work.create("/a", "");
  CHECK_FALSE(std::get<0>(
      outcome<CommitOnceResult>([&](auto token) { async_commit_once(below_app, work, std::move(token)); }).value()));
  CHECK(below("/app/books").size() == 1);
  CHECK_THROWS_AS(ensemble.make_client({.ledger_path = "/"}), boost::system::system_error);
  CHECK_THROWS_AS(ensemble.make_client({.ledger_path = "books"}), boost::system::system_error);
}

namespace {

/// A transaction whose first copy is carried out that late, and which is given up that soon. The error it ends with,
/// and whether it was carried out.
std::pair<error_code, bool> late_and_given_up(std::chrono::milliseconds lateness, std::chrono::milliseconds limit) {
  testing::FakeEnsembleOptions options{.latency = 1ms};
  options.lateness = lateness;
  testing::Simulation simulation{1, options};
  ClientConfig config{.session_timeout = 10s};
  config.operation_timeout = limit;
  config.retry = ExponentialBackoffRetry{20ms, 8};
  const Client& client = simulation.client("a", std::move(config));
  const auto run = [&](Clock::duration wait) { simulation.clock().run_for(simulation.context(), wait); };
  std::optional<error_code> ended;
  const auto once = [&](const std::string& path) {
    Transaction work;
    work.create(path, "");
    ended.reset();
    async_commit_once(client, work,
                      asio::bind_executor(simulation.executor(), [&](error_code error, auto&&...) { ended = error; }));
  };
  run(1s);
  once("/first");
  run(1s);
  simulation.ensemble().on_call([done = false](const testing::FakeCall& call) mutable {
    const bool strikes = !done && call.operation == "commit";
    done = done || strikes;
    return strikes ? testing::FakeFault::late : testing::FakeFault::none;
  });
  once("/second");
  run(20s);
  const auto nodes = simulation.ensemble().nodes();
  return {ended.value(), std::ranges::find(nodes, "/second", &testing::FakeNode::path) != nodes.end()};
}

}  // namespace

TEST_CASE("a transaction that is given up while a copy of it is late is carried out as its caller is told") {
  int given_up = 0;
  int done = 0;
  for (auto limit = 10ms; limit <= 400ms; ++limit)  // the link is back in time for some of them
    for (auto lateness = limit - 4ms; lateness <= limit + 4ms; ++lateness) {
      const auto [error, is_carried_out] = late_and_given_up(lateness, limit);
      INFO(lateness.count() << " ms late, given up after " << limit.count() << " ms: " << error.message());
      if (!error) {
        ++done;
        CHECK(is_carried_out);
      } else if (error == Error::timed_out) {
        ++given_up;
        CHECK_FALSE(is_carried_out);
      }
    }
  CHECK(given_up > 0);
  CHECK(done > 0);
}

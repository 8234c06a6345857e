// Transactions that are carried out once, under every fault at every step; the counterexamples are those of
// test/models/ledger.py.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/ledger/commit_once.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string top = "/shop";

ClientConfig patient(std::chrono::milliseconds operation_timeout = 60s) {
  ClientConfig config{.session_timeout = 10s};
  config.operation_timeout = operation_timeout;
  config.retry = ExponentialBackoffRetry{20ms, 8};
  return config;
}

/// What callers were told of each piece of work.
struct Books {
  enum class Told { nothing, done, not_done, unknown };
  std::map<std::string, Told> told;
};
using Told = Books::Told;

Told told_by(error_code error) {
  if (!error) return Told::done;
  if (error == Error::timed_out) return Told::not_done;  // that is promised here
  return outcome_of(error) == Outcome::ambiguous ? Told::unknown : Told::not_done;
}

/// How often each piece was carried out: each leaves a sequential node.
std::map<std::string, int> carried_out(const Simulation& simulation) {
  std::map<std::string, int> times;
  for (const FakeNode& node : simulation.ensemble().nodes())
    if (node.path.starts_with(top + "/")) ++times[node.data];
  return times;
}

bool agrees(const Simulation& simulation, const Books& books) {
  auto times = carried_out(simulation);
  return std::ranges::all_of(books.told, [&](const auto& each) {
    const int n = times[each.first];
    if (each.second == Told::done) return n == 1;
    return each.second == Told::not_done ? n == 0 : n <= 1;
  });
}

asio::awaitable<void> make_top(Simulation& simulation, std::string name) {
  const Client& client = simulation.client(name, patient());
  auto making = simulation.operation<CreateResult>(name, {.name = "create"}, [&](auto token) {
    client.async_create(top, "", CreateOptions{CreateMode::persistent}.idempotent(), std::move(token));
  });
  co_await std::move(making);
}

Transaction piece_of_work(const std::string& label) {
  Transaction work;
  work.create(top + "/done-", label, CreateMode::persistent_sequential);
  return work;
}

asio::awaitable<void> do_once(Simulation& simulation, std::shared_ptr<Books> books, std::string name, Transaction work,
                              std::string label) {
  const Client& client = simulation.client(name);
  auto doing = simulation.operation<CommitOnceResult>(
      name, {.name = "commit_once"}, [&](auto token) { async_commit_once(client, work, std::move(token)); });
  const auto [error, result] = co_await std::move(doing);
  books->told[label] = told_by(error);
}

void watch_books(Simulation& simulation, const std::shared_ptr<Books>& books) {
  simulation.at_the_end("each was carried out as its caller was told",
                        [&simulation, books] { return agrees(simulation, *books); });
}

asio::awaitable<void> one_after_the_other(Simulation& simulation, std::shared_ptr<Books> books, std::string name,
                                          std::chrono::milliseconds limit) {
  static_cast<void>(simulation.client(name, patient(limit)));
  co_await make_top(simulation, name);
  for (const char* number : {"1", "2"}) {
    const std::string label = name + number;
    co_await do_once(simulation, books, name, piece_of_work(label), label);
  }
  co_await test::pause(3s);
}

void two_clients(Simulation& simulation) {
  const auto books = std::make_shared<Books>();
  watch_books(simulation, books);
  for (const char* name : {"a", "b"})
    simulation.actor([&simulation, books, name] { return one_after_the_other(simulation, books, name, 60s); });
}

/// The time is up while replies are still missing.
void in_a_hurry(Simulation& simulation) {
  const auto books = std::make_shared<Books>();
  watch_books(simulation, books);
  simulation.actor([&simulation, books] { return one_after_the_other(simulation, books, "a", 200ms); });
}

/// Work that is refused for a reason that comes and goes: L3, L4.
asio::awaitable<void> refused_now_and_then(Simulation& simulation, std::shared_ptr<Books> books) {
  static_cast<void>(simulation.client("a", patient()));
  co_await make_top(simulation, "a");
  for (const char* label : {"a1", "a2", "a3"}) {
    Transaction work = piece_of_work(label);
    work.check("/reason");
    co_await do_once(simulation, books, "a", std::move(work), label);
  }
  co_await test::pause(3s);
}

asio::awaitable<void> toggle(Simulation& simulation) {
  const Client& client = simulation.client("b", patient());
  for (int i = 0; i < 8; ++i) {
    auto making = simulation.operation<CreateResult>("b", {.name = "create"}, [&](auto token) {
      client.async_create("/reason", "", CreateMode::persistent, std::move(token));
    });
    co_await std::move(making);
    co_await test::pause(5ms);
    auto removing = simulation.operation<>("b", {.name = "remove"},
                                           [&](auto token) { client.async_remove("/reason", std::move(token)); });
    co_await std::move(removing);
    co_await test::pause(5ms);
  }
}

void with_a_reason_to_fail(Simulation& simulation) {
  const auto books = std::make_shared<Books>();
  watch_books(simulation, books);
  simulation.actor([&simulation, books] { return refused_now_and_then(simulation, books); });
  simulation.actor([&simulation] { return toggle(simulation); });
}

/// Two processes, one order: each may do it, and tries until it knows that it was done.
asio::awaitable<void> do_by_key(Simulation& simulation, std::shared_ptr<Books> books, std::string name) {
  const Client& client = simulation.client(name, patient());
  co_await make_top(simulation, name);
  for (int tries = 0; tries < 8; ++tries) {
    const IdempotencyKey key{"/orders/4711", "answer of " + name};
    auto doing = simulation.operation<CommitOnceResult>(name, {.name = "commit_once"}, [&](auto token) {
      async_commit_once(client, piece_of_work("4711"), key, std::move(token));
    });
    const auto [error, result] = co_await std::move(doing);
    if (error) continue;
    books->told["4711"] = Told::done;
    if (!result.is_repeat && result.answer != key.answer) simulation.fail("the answer is not the caller's");
    if (result.is_repeat && result.answer.empty()) simulation.fail("a repeat has no answer");
    break;
  }
}

void one_order_in_two_processes(Simulation& simulation) {
  const auto books = std::make_shared<Books>();
  books->told["4711"] = Told::unknown;  // also if no try is answered it is done once at the most
  watch_books(simulation, books);
  for (const char* name : {"a", "b"})
    simulation.actor([&simulation, books, name] { return do_by_key(simulation, books, name); });
}

ExplorationOptions late(std::chrono::milliseconds lateness) {
  ExplorationOptions options;
  options.late_requests = true;
  options.ensemble.lateness = lateness;
  return options;
}

}  // namespace

TEST_CASE("a transaction is carried out once or not at all, as its caller is told, whatever is lost or late") {
  for (const auto lateness : {3ms, 30ms, 300ms, 2'000ms}) test::check_exploration(two_clients, 150, late(lateness));
}

TEST_CASE("a transaction that is given up is not carried out later") {
  for (const auto lateness : {3ms, 30ms, 300ms}) test::check_exploration(in_a_hurry, 150, late(lateness));
}

TEST_CASE("a transaction that is refused, when it is repeated, is not carried out later, nor was it before") {
  for (const auto lateness : {3ms, 12ms, 30ms, 60ms})
    test::check_exploration(with_a_reason_to_fail, 150, late(lateness));
}

TEST_CASE("work with a key is done once by two processes, and a repeat gets an answer") {
  for (const auto lateness : {3ms, 30ms, 300ms})
    test::check_exploration(one_order_in_two_processes, 150, late(lateness));
}

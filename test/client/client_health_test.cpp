// What a client and its observers are told of its health.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <boost/asio/use_awaitable.hpp>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::pause;

namespace {

struct Listener : Observer {
  void on_health(const HealthEvent& event) override {
    last = *event.health;
    watches = event.watches;
    number = event.client_number;
    ++(event.io_delay ? reports : changes);
    if (event.io_delay) longest_delay = std::max(longest_delay, *event.io_delay);
  }

  ClientHealth last{};
  std::size_t watches = 0;
  std::uint64_t number = 0;
  int reports = 0;
  int changes = 0;
  Clock::duration longest_delay{};
};

/// A scenario with one client, and what its observer was told.
std::shared_ptr<Listener> play(ClientConfig config,
                               const std::function<asio::awaitable<void>(Simulation&, Client&, Listener&)>& body) {
  const auto listener = std::make_shared<Listener>();
  config.observers = {listener};
  Simulation simulation;
  simulation.actor([&] { return body(simulation, simulation.client("a", config), *listener); });
  simulation.run();
  INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
  CHECK(simulation.failures().empty());
  return listener;
}

}  // namespace

TEST_CASE("an observer is told of the client's health every second, and how late that is") {
  play({.session_timeout = 20s}, [](Simulation& simulation, Client&, Listener& told) -> asio::awaitable<void> {
    co_await pause(5'500ms);
    CHECK(told.reports == 5);
    CHECK(told.longest_delay == 0s);
    simulation.oversleep(Clock::now() + 2s);
    co_await pause(100ms);
    CHECK(told.reports == 6);
    CHECK(told.longest_delay == 1'500ms);
    CHECK(told.last.io_delay == 1'500ms);
  });
}

TEST_CASE("with a short session timeout the reports come nine times in it") {
  play({.session_timeout = 900ms}, [](Simulation&, Client&, Listener& told) -> asio::awaitable<void> {
    co_await pause(1'050ms);
    CHECK(told.reports == 10);
  });
}

TEST_CASE("the health of a client follows its session, and the last report is that it is closed") {
  const auto told = play({.session_timeout = 10s},
                         [](Simulation& simulation, Client& client, Listener& listener) -> asio::awaitable<void> {
                           co_await pause(500ms);
                           CHECK(listener.last.state == ConnectionState::connected);
                           CHECK(listener.changes == 1);
                           REQUIRE(client.health().sessions.size() == 1);
                           const SessionHealth idle = client.health().sessions[0];
                           CHECK(idle.state == SessionState::connected);
                           CHECK(idle.session_id == client.session().id());
                           CHECK(idle.timeout == 10s);
                           CHECK_FALSE(idle.valid_until);  // no lock is held
                           const auto asked = Clock::now();
                           const InterProcessMutex mutex{client, "/locks/a"};
                           Lease lease = co_await mutex.async_acquire();
                           CHECK(client.health().sessions[0].last_contact >= asked);
                           CHECK(client.health().sessions[0].valid_until == lease.valid_until());
                           [[maybe_unused]] const auto [error, stat, watch] =
                               co_await client.session().async_exists_and_watch("/a", asio::as_tuple(asio::deferred));
                           co_await pause(1s);
                           CHECK(listener.watches >= 1);
                           const auto before = client.health().sessions[0].last_contact;
                           simulation.ensemble().expire(client.session().id());
                           simulation.ensemble().cut_all();
                           while (client.state() != ConnectionState::reconnected) co_await pause(10ms);
                           CHECK(client.health().sessions[0].last_contact >= before);
                           CHECK(listener.last.state == ConnectionState::reconnected);
                         });
  CHECK(told->last.state == ConnectionState::closed);
  CHECK(told->number > 0);
}

TEST_CASE("without observers a client does not look how late it is") {
  Simulation simulation;
  simulation.actor([&]() -> asio::awaitable<void> {
    const Client& client = simulation.client("a", {.session_timeout = 10s});
    co_await pause(3s);
    CHECK(client.health().state == ConnectionState::connected);
    CHECK_FALSE(client.health().io_delay);
  });
  simulation.run();
  CHECK(simulation.failures().empty());
}

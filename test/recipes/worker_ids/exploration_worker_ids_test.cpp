// Worker ids under every fault at every step. W1 to W6 are the counterexamples of their first drafts
// (test/models/worker_id.py).
#include "support/exploration.hpp"
#include "worker_stage.hpp"

#include <vector>

using namespace zklock;
using namespace zklock::test;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const ClientConfig patient{.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}};
const std::string path = "/workers";

struct User {
  std::string name;
  std::chrono::milliseconds ahead{0};  // its clock
  std::chrono::milliseconds later{0};
  std::chrono::milliseconds stays{13s};  // longer than one session timeout: it extends
  std::chrono::milliseconds set_by{0};   // its clock, half-way
  int turns = 1;
};

/// What a fault, or an end of the time, may come to.
bool is_trouble(error_code error) {
  return is_retryable(error) || is_session_lost(error) || error == Error::timed_out || error == Error::not_connected ||
         error == Error::closed || error == asio::error::operation_aborted;
}

asio::awaitable<void> take_turns(Simulation& simulation, std::shared_ptr<WorkerBook> book, int count, User user) {
  const auto clock = std::make_shared<WallClock>(WallClock{user.ahead});
  const WorkerIds ids{simulation.client(user.name, patient), path, settings(count, clock)};
  co_await test::pause(user.later);
  for (int i = 0; i < user.turns; ++i) {
    auto acquiring = simulation.operation<WorkerId>(user.name, {.name = "acquire"},
                                                    [&](auto token) { ids.async_acquire(90s, std::move(token)); });
    auto [error, id] = co_await std::move(acquiring);
    if (error && !is_trouble(error)) simulation.fail(user.name + " is refused: " + error.message());
    if (error) continue;
    WorkerBook::Holder& holder = book->enter(user.name, std::move(id));
    co_await test::pause(user.stays / 2);
    clock->ahead += user.set_by;
    co_await test::pause(user.stays / 2);
    auto releasing = simulation.operation<>(user.name, {.name = "release"},
                                            [&](auto token) { holder.id.async_release(std::move(token)); });
    const auto [failed] = co_await std::move(releasing);
    if (failed && !is_trouble(failed)) simulation.fail(user.name + " cannot release: " + failed.message());
  }
}

enum class Stamps { once, any };

Scenario users(int count, std::vector<User> all, Stamps stamps = Stamps::once) {
  return [count, all = std::move(all), stamps](Simulation& simulation) {
    const auto book = std::make_shared<WorkerBook>(simulation);
    simulation.invariant("each time stamp is used once", [book, stamps] {
      if (stamps == Stamps::once) book->use_all();
      return true;
    });
    simulation.invariant("each number is held once", [book, &simulation] {
      if (!simulation.has_operator_deleted()) book->check_alone();
      return true;
    });
    for (const User& user : all)
      simulation.actor([&simulation, book, count, user] { return take_turns(simulation, book, count, user); });
  };
}

ExplorationOptions with_late_requests(std::chrono::milliseconds lateness) {
  ExplorationOptions options{.late_requests = true};
  options.ensemble.lateness = lateness;
  return options;
}

}  // namespace

TEST_CASE("two processes never use a time stamp of one number twice, whatever fails") {  // W1, W3, W4, W6
  for (const auto ahead : {-1s, 0s, 1s})
    check_exploration(users(1, {{.name = "a", .ahead = ahead}, {.name = "b", .later = 50ms, .stays = 3s}}), 100,
                      with_late_requests(30ms));
}

TEST_CASE("three processes share two numbers, whatever fails") {
  check_exploration(users(2, {{.name = "a", .ahead = 500ms, .stays = 2s, .turns = 2},
                              {.name = "b", .stays = 11s},
                              {.name = "c", .ahead = -500ms, .later = 1s, .stays = 3s}}),
                    100, with_late_requests(300ms));
}

TEST_CASE("a clock that is set lets no time stamp be used twice") {
  for (const auto set_by : {-6s, 6s, 60s})
    check_exploration(users(1, {{.name = "a", .set_by = set_by}, {.name = "b", .later = 50ms, .stays = 3s}}), 30);
}

TEST_CASE("an operator who deletes the nodes of worker ids lets no time stamp be used twice") {  // W5
  ExplorationOptions options{.operator_deletes = path + "/ids"};
  check_exploration(users(1, {{.name = "a"}, {.name = "b", .later = 50ms, .stays = 3s}}), 100, options);
}

TEST_CASE("after all of a directory of worker ids is deleted its users go on") {
  check_exploration(users(2, {{.name = "a"}, {.name = "b", .later = 50ms, .stays = 3s}}, Stamps::any), 50,
                    {.operator_deletes = path});
}

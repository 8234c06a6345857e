// lead_while: a body runs while it leads, and has ended before its node is deleted.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/leader/lead_while.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>
#include <zklock/timer.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string path = "/leader/orders";

ClientConfig config() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

struct Stage {
  Simulation& simulation;
  LeaderLatch latch{simulation.client("a", config()), path, "a"};

  [[nodiscard]] bool has_node() const {
    return std::ranges::any_of(simulation.ensemble().nodes(),
                               [](const FakeNode& each) { return each.path.starts_with(path + "/"); });
  }
  void expire() { simulation.ensemble().expire(simulation.client("a").session().id()); }
};

void play(std::function<asio::awaitable<void>(Stage&)> body) {
  Simulation simulation;
  std::unique_ptr<Stage> stage;
  simulation.actor([&] {
    stage = std::make_unique<Stage>(Stage{simulation});
    return body(*stage);
  });
  simulation.run();
  INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
  CHECK(simulation.failures().empty());
}

template <class T>
asio::awaitable<error_code> error_of(asio::awaitable<T> coroutine) {
  try {
    co_await std::move(coroutine);
  } catch (const boost::system::system_error& error) {
    co_return error.code();
  }
  co_return error_code{};
}

}  // namespace

TEST_CASE("lead_while runs its body while it leads, gives its result, and deletes the node") {
  play([](Stage& stage) -> asio::awaitable<void> {
    auto body = [&](Leadership& leadership) -> asio::awaitable<std::int64_t> {
      CHECK(leadership.is_held());
      co_await test::pause(1s);
      CHECK(stage.has_node());
      co_return leadership.fencing_token();
    };
    const std::int64_t token = co_await lead_while(stage.latch, body);
    CHECK(token > 0);
    CHECK_FALSE(stage.has_node());
    int calls = 0;
    auto count = [&]() -> asio::awaitable<void> {
      ++calls;
      co_return;
    };
    const LeaderSelector selector{stage.simulation.client("a"), path, "a"};
    co_await lead_while(selector, count);
    CHECK(calls == 1);
    CHECK_FALSE(stage.has_node());
  });
}

TEST_CASE("what the body of lead_while throws comes out, when it has resigned") {
  play([](Stage& stage) -> asio::awaitable<void> {
    auto body = []() -> asio::awaitable<void> {
      throw std::out_of_range{"sold out"};
      co_return;
    };
    bool thrown = false;
    try {
      co_await lead_while(stage.latch, body);
    } catch (const std::out_of_range&) {
      thrown = true;
      CHECK_FALSE(stage.has_node());
    }
    CHECK(thrown);
  });
}

TEST_CASE("the body of lead_while is cancelled when the leadership is lost, and awaited") {
  play([](Stage& stage) -> asio::awaitable<void> {
    bool was_cancelled = false;
    bool has_ended = false;
    auto body = [&](Leadership& leadership) -> asio::awaitable<void> {
      stage.expire();
      Timer timer{co_await asio::this_coro::executor, 60s};
      const auto [cancelled] = co_await timer.async_wait(asio::as_tuple(asio::deferred));
      was_cancelled = cancelled == asio::error::operation_aborted;
      CHECK(leadership.state() == LeaseState::lost);
      co_await asio::this_coro::reset_cancellation_state();
      co_await test::pause(3s);  // it takes its time
      has_ended = true;
    };
    const error_code error = co_await error_of(lead_while(stage.latch, body));
    CHECK(error == LockError::lock_lost);
    CHECK(was_cancelled);
    CHECK(has_ended);
  });
}

TEST_CASE("a body of lead_while that its loss has cancelled fails with the loss, and with its own error otherwise") {
  play([](Stage& stage) -> asio::awaitable<void> {
    auto obedient = [&]() -> asio::awaitable<void> {
      stage.expire();
      Timer timer{co_await asio::this_coro::executor, 60s};
      co_await timer.async_wait(asio::use_awaitable);  // throws
    };
    const error_code outcome_1 = co_await error_of(lead_while(stage.latch, obedient));
    CHECK(outcome_1 == LockError::lock_lost);
    auto failing = [&](Leadership& leadership) -> asio::awaitable<void> {
      stage.expire();
      co_await leadership.async_wait_lost(asio::as_tuple(asio::deferred));
      throw boost::system::system_error{Error::invalid_data};
    };
    const error_code outcome_2 = co_await error_of(lead_while(stage.latch, failing));
    CHECK(outcome_2 == Error::invalid_data);
  });
}

TEST_CASE("a body of lead_while may resign, and go on") {
  play([](Stage& stage) -> asio::awaitable<void> {
    bool went_on = false;
    auto body = [&](Leadership& leadership) -> asio::awaitable<void> {
      co_await leadership.async_resign();
      CHECK_FALSE(stage.has_node());
      co_await test::pause(1s);
      went_on = true;
    };
    const error_code outcome = co_await error_of(lead_while(stage.latch, body));
    CHECK_FALSE(outcome);
    CHECK(went_on);
  });
}

TEST_CASE("lead_while stands again after its body and after a loss, until an error comes out") {
  play([](Stage& stage) -> asio::awaitable<void> {
    int calls = 0;
    std::int64_t token = 0;
    auto body = [&](Leadership& leadership) -> asio::awaitable<void> {
      CHECK(leadership.is_held());
      CHECK(leadership.fencing_token() > token);
      token = leadership.fencing_token();
      ++calls;
      if (calls == 2) {
        stage.expire();
        Timer timer{co_await asio::this_coro::executor, 60s};
        co_await timer.async_wait(asio::use_awaitable);
      }
      if (calls == 4) throw boost::system::system_error{Error::invalid_data};
    };
    const error_code outcome_3 = co_await error_of(lead_while(stage.latch, RunAgain::yes, body));
    CHECK(outcome_3 == Error::invalid_data);
    CHECK(calls == 4);
    auto count = [&]() -> asio::awaitable<void> {
      ++calls;
      co_return;
    };
    const error_code once = co_await error_of(lead_while(stage.latch, RunAgain::no, count));
    CHECK_FALSE(once);
    CHECK(calls == 5);
  });
}

TEST_CASE("lead_while stands again however often the ensemble is away for longer than it waits for a connection") {
  play([](Stage& stage) -> asio::awaitable<void> {
    int calls = 0;
    auto body = [&]() -> asio::awaitable<void> {
      if (++calls == 3) throw boost::system::system_error{Error::not_connected};  // an error of its own comes out
      stage.simulation.ensemble().refuse_connections();
      stage.simulation.ensemble().cut_all();
      stage.simulation.after(60s, [&] { stage.simulation.ensemble().accept_connections(); });
      Timer timer{co_await asio::this_coro::executor, 60s};
      co_await timer.async_wait(asio::use_awaitable);
    };
    const error_code outcome = co_await error_of(lead_while(stage.latch, RunAgain::yes, body));
    CHECK(outcome == Error::not_connected);
    CHECK(calls == 3);
    auto once = [&]() -> asio::awaitable<void> { co_return; };
    stage.simulation.ensemble().refuse_connections();
    stage.simulation.ensemble().cut_all();
    const error_code refused = co_await error_of(lead_while(stage.latch, RunAgain::no, once));
    CHECK(refused == Error::not_connected);
    stage.simulation.ensemble().accept_connections();
  });
}

TEST_CASE("lead_while that waits for an ensemble that is away ends when it is cancelled") {
  play([](Stage& stage) -> asio::awaitable<void> {
    auto body = []() -> asio::awaitable<void> { co_return; };
    stage.simulation.ensemble().refuse_connections();
    stage.simulation.ensemble().cut_all();
    asio::cancellation_signal signal;
    bool done = false;
    asio::co_spawn(stage.simulation.executor(), lead_while(stage.latch, RunAgain::yes, body),
                   asio::bind_cancellation_slot(signal.slot(), [&](const std::exception_ptr&) { done = true; }));
    co_await test::pause(60s);
    CHECK_FALSE(done);
    signal.emit(asio::cancellation_type::terminal);
    co_await test::pause(1s);
    CHECK(done);
    stage.simulation.ensemble().accept_connections();
  });
}

TEST_CASE("lead_while that is cancelled ends its body first, and leaves no trace") {
  play([](Stage& stage) -> asio::awaitable<void> {
    bool has_ended = false;
    auto body = [&]() -> asio::awaitable<void> {
      Timer timer{co_await asio::this_coro::executor, Clock::time_point::max()};
      co_await timer.async_wait(asio::as_tuple(asio::deferred));
      CHECK(stage.has_node());
      has_ended = true;
    };
    asio::cancellation_signal signal;
    bool done = false;
    asio::co_spawn(stage.simulation.executor(), lead_while(stage.latch, RunAgain::yes, body),
                   asio::bind_cancellation_slot(signal.slot(), [&](const std::exception_ptr&) { done = true; }));
    co_await test::pause(1s);
    CHECK(stage.has_node());
    CHECK_FALSE(done);
    signal.emit(asio::cancellation_type::terminal);
    co_await test::pause(1s);
    CHECK(has_ended);
    CHECK(done);
    CHECK_FALSE(stage.has_node());
  });
}

TEST_CASE("lead_while that is cancelled gives what its body has returned or thrown, when it has resigned") {
  play([](Stage& stage) -> asio::awaitable<void> {
    for (const error_code thrown_by_body : {error_code{}, make_error_code(Error::invalid_data)}) {
      auto body = [thrown_by_body]() -> asio::awaitable<int> {
        Timer timer{co_await asio::this_coro::executor, Clock::time_point::max()};
        co_await timer.async_wait(asio::as_tuple(asio::deferred));
        if (thrown_by_body) throw boost::system::system_error{thrown_by_body};
        co_return 7;
      };
      asio::cancellation_signal signal;
      std::optional<std::pair<std::exception_ptr, int>> outcome;
      auto note = [&](std::exception_ptr thrown, int value) {
        CHECK_FALSE(stage.has_node());
        outcome.emplace(thrown, value);
      };
      asio::co_spawn(stage.simulation.executor(), lead_while(stage.latch, body),
                     asio::bind_cancellation_slot(signal.slot(), note));
      co_await test::pause(1s);
      CHECK(stage.has_node());
      signal.emit(asio::cancellation_type::terminal);
      co_await test::pause(1s);
      REQUIRE(outcome);
      const error_code error = outcome->first ? detail::code_of(outcome->first) : error_code{};
      CHECK(error == thrown_by_body);
      if (!error) CHECK(outcome->second == 7);
    }
  });
}

// The queue behind an EventStream.
#include "support/catch.hpp"

#include <zklock/recipe_kit/bounded_list.hpp>
#include <zklock/recipe_kit/event_queue.hpp>
#include <zklock/testing/simulation.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/dispatch.hpp>

#include <memory>
#include <optional>
#include <utility>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

struct Fixture {
  using Queue = EventQueue<int, BoundedList<int, 3>>;
  using Outcome = std::optional<std::pair<error_code, int>>;

  testing::Simulation simulation;
  std::shared_ptr<Queue> queue = std::make_shared<Queue>(simulation.client("a", {}));
  EventStream<int> stream{queue};

  auto note(Outcome& outcome) {
    return asio::bind_executor(simulation.executor(),
                               [&outcome](error_code error, int event) { outcome.emplace(error, event); });
  }
  void run() { simulation.clock().run_ready(simulation.context()); }
  Outcome next() {
    Outcome outcome;
    stream.async_next(note(outcome));
    run();
    return outcome;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a reader that falls behind misses the oldest events of a bounded list, and no others") {
  for (int event = 1; event <= 5; ++event) queue->push(event);
  for (int event = 3; event <= 5; ++event) CHECK(next() == std::pair{error_code{}, event});
  Fixture::Outcome waiting;
  stream.async_next(note(waiting));
  run();
  CHECK_FALSE(waiting);
  queue->push(6);
  queue->push(7);
  run();
  CHECK(waiting == std::pair{error_code{}, 6});
  queue->end(make_error_code(Error::closing));
  queue->push(8);
  CHECK(next() == std::pair{error_code{}, 7});
  CHECK(next() == std::pair{make_error_code(Error::closing), 0});
}

TEST_CASE_METHOD(Fixture, "a cancellation that comes after its wait is over ends no later wait") {
  asio::cancellation_signal late;
  Fixture::Outcome first;
  stream.async_next(asio::bind_cancellation_slot(late.slot(), note(first)));
  queue->push(1);
  run();
  CHECK(first == std::pair{error_code{}, 1});
  Fixture::Outcome second;
  asio::cancellation_signal timely;
  stream.async_next(asio::bind_cancellation_slot(timely.slot(), note(second)));
  late.emit(asio::cancellation_type::total);
  run();
  CHECK_FALSE(second);
  asio::cancellation_signal refused;
  Fixture::Outcome third;
  stream.async_next(asio::bind_cancellation_slot(refused.slot(), note(third)));
  run();
  CHECK(third == std::pair{make_error_code(Error::invalid_state), 0});
  refused.emit(asio::cancellation_type::total);
  run();
  CHECK_FALSE(second);
  timely.emit(asio::cancellation_type::total);
  run();
  CHECK(second == std::pair{error_code{asio::error::operation_aborted}, 0});
}

TEST_CASE_METHOD(Fixture,
                 "no handler runs within the call that pushes its event, nor within the one that asks for it") {
  const bool is_serial = GENERATE(false, true);
  const asio::any_io_executor executor = is_serial ? queue->client().get_executor() : simulation.executor();
  const auto note_there = [&](Fixture::Outcome& outcome) {
    return asio::bind_executor(executor, [&outcome](error_code error, int event) { outcome.emplace(error, event); });
  };
  Fixture::Outcome waiting;
  stream.async_next(note_there(waiting));
  asio::dispatch(queue->client().get_executor(), [&] {  // as publishers do, which may hold a mutex
    queue->push(1);
    queue->push(2);
    CHECK_FALSE(waiting);
  });
  run();
  CHECK(waiting == std::pair{error_code{}, 1});
  Fixture::Outcome unread;
  asio::dispatch(executor, [&] {
    stream.async_next(note_there(unread));
    CHECK_FALSE(unread);
  });
  run();
  CHECK(unread == std::pair{error_code{}, 2});
}

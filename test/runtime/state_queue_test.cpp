// A publisher of states whose subscribers go away while it publishes.
#include "state_queue.hpp"

#include "support/catch.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/require.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

/// The executor of an io_context, on which something else happens whenever a function is posted.
class BusyExecutor {
 public:
  using Blocking = asio::execution::blocking_t;

  /// Both must outlive the executor.
  BusyExecutor(asio::io_context& context, std::function<void()>& meanwhile) noexcept
      : context_{&context}, meanwhile_{&meanwhile} {}

  [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
  [[nodiscard]] static constexpr Blocking query(Blocking) noexcept { return asio::execution::blocking.never; }
  [[nodiscard]] BusyExecutor require(Blocking::never_t) const noexcept { return *this; }
  friend bool operator==(const BusyExecutor&, const BusyExecutor&) noexcept = default;

  template <class Function>
  void execute(Function&& function) const {
    if (*meanwhile_) std::exchange(*meanwhile_, nullptr)();
    asio::require(context_->get_executor(), Blocking::never).execute(std::forward<Function>(function));
  }

 private:
  asio::io_context* context_;
  std::function<void()>* meanwhile_;
};

using Publisher = StatePublisher<SessionState>;
using Waiter = detail::Handler<SessionState>;

/// Subscribes at the end of its life: on another thread, so that a test in which a mutex is held fails and does not hang.
class Owned {
 public:
  Owned(Publisher& publisher, std::shared_ptr<Runtime> runtime, std::future<void>& subscribed)
      : publisher_{publisher}, runtime_{std::move(runtime)}, subscribed_{subscribed} {}
  ~Owned() {
    subscribed_ = std::async(std::launch::async, [&publisher = publisher_, runtime = runtime_] {
      static_cast<void>(publisher.subscribe(runtime));
    });
    CHECK(subscribed_.wait_for(10s) == std::future_status::ready);
  }
  Owned(const Owned&) = delete;

 private:
  Publisher& publisher_;
  std::shared_ptr<Runtime> runtime_;
  std::future<void>& subscribed_;
};

}  // namespace

TEST_CASE("a stream that ends while its publisher publishes may take an object with it that subscribes") {
  asio::io_context context{1};
  std::function<void()> meanwhile;
  const auto runtime = std::make_shared<Runtime>(BusyExecutor{context, meanwhile});
  Publisher publisher{SessionState::connecting};
  std::future<void> subscribed;
  auto stream = publisher.subscribe(runtime);
  int delivered = 0;
  stream->wait(Waiter{[&](error_code, SessionState) { ++delivered; }});
  context.run();  // the stream has delivered the state at the subscription
  context.restart();
  stream->wait(Waiter{[&](error_code, SessionState) { ++delivered; }});
  meanwhile = [&] {  // the first waiter is on its way
    stream->wait(Waiter{[owned = std::make_unique<Owned>(publisher, runtime, subscribed)](auto...) {}});
    stream.reset();
  };
  publisher.publish(SessionState::connected);
  CHECK(subscribed.valid());
  CHECK(publisher.get() == SessionState::connected);
  context.run();
  CHECK(delivered == 2);
}

TEST_CASE("a cancellation that comes when its wait is over ends no later wait") {
  asio::io_context context{1};
  const auto runtime = std::make_shared<Runtime>(context.get_executor());
  Publisher publisher{SessionState::connecting};
  const auto stream = publisher.subscribe(runtime);
  const auto run = [&] {
    context.restart();
    context.run();
  };
  const auto next = [&](asio::cancellation_signal& signal) {
    auto ended = std::make_shared<std::optional<error_code>>();
    detail::start_next_state(stream, Waiter{asio::bind_cancellation_slot(
                                         signal.slot(), [ended](error_code error, SessionState) { *ended = error; })});
    run();
    return ended;
  };
  asio::cancellation_signal at_once, late, in_time;
  CHECK(*next(at_once) == error_code{});
  const auto told = next(late);
  publisher.publish(SessionState::connected);
  run();
  CHECK(*told == error_code{});
  const auto waits = next(in_time);
  for (asio::cancellation_signal* each : {&at_once, &late}) each->emit(asio::cancellation_type::total);
  run();
  CHECK_FALSE(*waits);
  in_time.emit(asio::cancellation_type::total);
  run();
  CHECK(*waits == asio::error::operation_aborted);
}

// A caller that waits for an operation, and may return before the operation has ended.
#include "clock_control.hpp"
#include "support/catch.hpp"

#include <zklock/recipe_kit/blocking.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <thread>

using namespace zklock;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

/// A result of an operation, which has to be given back.
struct Loan {
  explicit Loan(int& out_now) : out{&out_now} { ++*out; }
  Loan(Loan&& other) noexcept : out{std::exchange(other.out, nullptr)} {}
  Loan& operator=(Loan&&) = delete;
  ~Loan() {
    if (out) --*out;
  }
  int* out;
};

Clock::duration since(Clock::time_point begin) { return Clock::now() - begin; }

}  // namespace

TEST_CASE("a caller returns at its deadline even if no thread runs the executor, and gives a later result back") {
  asio::io_context never_run;
  std::function<void(int&)> complete;
  bool cancelled = false;
  const auto begin = Clock::now();
  const auto outcome = detail::block_until<Loan>(
      after(100ms), Error::timed_out, detail::Awaited{never_run.get_executor()}, [&](auto handler) {
        asio::get_associated_cancellation_slot(handler).assign([&](asio::cancellation_type) { cancelled = true; });
        auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        complete = [kept](int& out) { std::move (*kept)(error_code{}, Loan{out}); };
      });
  CHECK(outcome.error == Error::timed_out);
  CHECK_FALSE(outcome.value);
  CHECK(since(begin) >= 100ms);
  CHECK(cancelled);
  int out = 0;
  complete(out);
  CHECK(out == 0);
}

TEST_CASE("a caller gets an outcome that comes before its deadline or soon after") {
  asio::io_context context;
  std::jthread thread;
  int out = 0;
  const Deadline deadline = GENERATE(Deadline{}, after(10min), Deadline{Clock::time_point::max()});
  {
    const auto outcome = detail::block_until<Loan>(
        deadline, Error::timed_out, detail::Awaited{context.get_executor()}, [&](auto handler) {
          thread = std::jthread{[&out, handler = std::move(handler)]() mutable {
            std::move(handler)(make_error_code(Error::connection_loss), Loan{out});
          }};
        });
    CHECK(outcome.error == Error::connection_loss);
    CHECK(outcome.value);
    CHECK(out == 1);
  }
  CHECK(out == 0);
}

TEST_CASE("a deadline that is long past ends the wait") {
  asio::io_context never_run;
  const Deadline deadline = GENERATE(Deadline{Clock::now() - 1h}, Deadline{Clock::time_point::min()});
  const auto outcome =
      detail::block_until<>(deadline, Error::timed_out, detail::Awaited{never_run.get_executor()}, [](auto) {});
  CHECK(outcome.error == Error::timed_out);
}

TEST_CASE("a caller's time also passes while the machine is suspended") {
  using detail::ClockControl;
  const auto now = Clock::now();
  asio::io_context context;
  asio::steady_timer asleep{context, 50ms};
  asleep.async_wait([&](error_code) { ClockControl::set((now + 1h).time_since_epoch().count()); });
  ClockControl::set(now.time_since_epoch().count());
  asio::io_context never_run;
  const std::jthread machine{[&] { context.run(); }};
  const auto outcome =
      detail::block_until<>(after(30min), Error::timed_out, detail::Awaited{never_run.get_executor()}, [](auto) {});
  ClockControl::release();
  CHECK(outcome.error == Error::timed_out);  // half an hour would be over the time limit of the test
}

TEST_CASE("a caller without a deadline returns when nothing has run the executor for longer than it waits in silence") {
  asio::io_context stopped;
  bool cancelled = false;
  const auto outcome = detail::block_until<Loan>(
      {}, Error::timed_out, detail::Awaited{stopped.get_executor(), 0s}, [&](const auto& handler) {
        asio::get_associated_cancellation_slot(handler).assign([&](asio::cancellation_type) { cancelled = true; });
      });
  CHECK(outcome.error == Error::executor_not_running);
  CHECK(cancelled);
}

TEST_CASE("a caller without a deadline waits on for an executor that runs, and sees it stop") {
  asio::io_context context;
  auto work = asio::make_work_guard(context);
  detail::ExecutorProbe probe{detail::Awaited{context.get_executor(), 10s}};
  const Clock::time_point begin = Clock::now();
  CHECK_FALSE(probe.is_overdue(begin));
  for (const auto passed : {9s, 18s, 27s}) {
    context.poll();
    CHECK_FALSE(probe.is_overdue(begin + passed));
  }
  CHECK(probe.is_silent(begin + 28s));
  CHECK_FALSE(probe.is_overdue(begin + 36s));
  CHECK(probe.is_overdue(begin + 37s));
}

TEST_CASE("an executor that always runs is not asked") {
  asio::io_context context;
  detail::ExecutorProbe probe{detail::Awaited{context.get_executor()}};
  CHECK_FALSE(probe.is_overdue(Clock::now() + 24h));
  CHECK(context.poll() == 0);
}

#include "support/catch.hpp"
#include "support/frame_proxy.hpp"
#include "support/lock_fixture.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/with_lease.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : ObservedLock {
  Client client = make_client(server);
  InterProcessMutex mutex{client, path};
  asio::thread_pool pool{1};  // runs the coroutines

  ~Fixture() { pool.join(); }  // an I/O thread may still be in the pool after the last handler has run

  [[nodiscard]] std::size_t queue_length() const {
    static_cast<void>(sync(session));
    return ObservedLock::queue_length();
  }
  /// Runs the coroutine to its end and returns its result.
  template <class T>
  T run(asio::awaitable<T> coroutine) {
    return asio::co_spawn(pool, std::move(coroutine), asio::use_future).get();
  }
  template <class T>
  error_code error_of(asio::awaitable<T> coroutine) {
    try {
      run(std::move(coroutine));
    } catch (const boost::system::system_error& error) {
      return error.code();
    }
    return {};
  }
};

/// Waits until it is cancelled, which throws, as always.
asio::awaitable<void> wait_for_ever() {
  Timer timer{co_await asio::this_coro::executor, Clock::time_point::max()};
  co_await timer.async_wait(asio::deferred);
}

/// A coroutine that can be cancelled, and its outcome.
class Running {
 public:
  template <class Executor>
  Running(const Executor& executor, asio::awaitable<void> coroutine) : executor_{executor} {
    auto token = asio::bind_cancellation_slot(signal_->slot(), asio::use_future);
    done_ = asio::co_spawn(executor_, std::move(coroutine), std::move(token));
  }
  void cancel() {
    asio::post(executor_, [signal = signal_] { signal->emit(asio::cancellation_type::terminal); });
  }
  [[nodiscard]] bool ready(std::chrono::milliseconds limit = 0ms) {
    return done_.wait_for(limit) == std::future_status::ready;
  }
  error_code get() {
    if (!ready(30s)) throw std::runtime_error{"the coroutine has not ended in time"};
    try {
      done_.get();
    } catch (const boost::system::system_error& error) {
      return error.code();
    }
    return {};
  }

 private:
  std::shared_ptr<asio::cancellation_signal> signal_ = std::make_shared<asio::cancellation_signal>();
  asio::any_io_executor executor_;
  std::future<void> done_;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "with_lease holds the lock while the body runs, and returns the body's result") {
  const auto token = run(with_lease(mutex, [&](Lease& lease) -> asio::awaitable<std::int64_t> {
    CHECK(lease.is_held());
    CHECK(queue_length() == 1);
    CHECK(pool.get_executor().running_in_this_thread());
    co_return lease.fencing_token();
  }));
  CHECK(token > 0);
  CHECK(queue_length() == 0);
  int calls = 0;
  run(with_lease(mutex, 5s, [&]() -> asio::awaitable<void> {
    ++calls;
    co_return;
  }));
  CHECK(calls == 1);
  auto give = [kept = std::make_unique<int>(7)](Lease&) mutable -> asio::awaitable<std::unique_ptr<int>> {
    co_return std::move(kept);
  };
  CHECK(*run(with_lease(mutex, std::ref(give))) == 7);
  const std::string name(100, 'x');
  const auto size = [name]() -> asio::awaitable<std::size_t> { co_return name.size(); };
  const auto nested = [&]() -> asio::awaitable<std::size_t> { co_return co_await with_lease(mutex, 5s, size); };
  CHECK(run(nested()) == 100);
  CHECK(leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "with_lease takes read and write locks and multi-locks, too") {
  const std::string beside = path + "-beside";
  const InterProcessReadWriteLock both{client, beside};
  const InterProcessMultiLock multi{{mutex, both.write_lock()}};
  const auto readers_and_writers = [&] {
    static_cast<void>(sync(session));
    return children_of(session, beside).size();
  };
  const auto nested = [&]() -> asio::awaitable<std::size_t> {
    co_return co_await with_lease(both.read_lock(), [&](Lease& lease) -> asio::awaitable<std::size_t> {
      CHECK(lease.is_held());
      co_return readers_and_writers();
    });
  };
  CHECK(run(with_lease(both.read_lock(), 5s, nested)) == 2);
  CHECK(run(with_lease(multi, [&](MultiLease& lease) -> asio::awaitable<std::size_t> {
          CHECK(lease.is_held());
          co_return queue_length() + readers_and_writers();
        })) == 2);
  CHECK(leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "with_lease rethrows the body's exception, when the lock is free") {
  CHECK_THROWS_AS(run(with_lease(mutex, [](Lease&) -> asio::awaitable<int> { throw std::out_of_range{"sold out"}; })),
                  std::out_of_range);
  CHECK(queue_length() == 0);
  CHECK_THROWS_AS(run(with_lease(mutex,
                                 []() -> asio::awaitable<void> {
                                   throw std::out_of_range{"sold out"};
                                   co_return;
                                 })),
                  std::out_of_range);
  CHECK(queue_length() == 0);
}

TEST_CASE_METHOD(Fixture, "with_lease that does not get the lock in time does not run the body") {
  const Lease holder = acquire(mutex);
  int calls = 0;
  CHECK(error_of(with_lease(mutex, 30ms, [&]() -> asio::awaitable<void> {
          ++calls;
          co_return;
        })) == Error::timed_out);
  CHECK(calls == 0);
  CHECK(eventually([&] { return queue_length() == 1; }));
}

TEST_CASE_METHOD(Fixture, "with_lease that is cancelled while it waits leaves no trace") {
  const Lease holder = acquire(mutex);
  Running running{pool.get_executor(), with_lease(mutex, wait_for_ever)};
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  running.cancel();
  CHECK(running.get() == asio::error::operation_aborted);
  CHECK(eventually([&] { return queue_length() == 1 && server.monitor("zk_watch_count") == 0; }));
}

TEST_CASE_METHOD(Fixture, "with_lease that is cancelled does not wait for the release, which goes on", "[faults]") {
  FrameProxy proxy{server.port()};
  const Client distant{{.connect_string = proxy.address(), .session_timeout = session_timeout}};
  const InterProcessMutex theirs{distant, path};
  Running running{pool.get_executor(), with_lease(theirs, wait_for_ever)};
  REQUIRE(eventually([&] { return queue_length() == 1 && theirs.is_acquired_in_this_process(); }));
  proxy.hold(Direction::replies);
  running.cancel();
  CHECK(running.get() == asio::error::operation_aborted);
  CHECK(eventually([&] { return queue_length() == 0; }));
  proxy.resume(Direction::replies);
}

TEST_CASE_METHOD(Fixture, "with_lease waits for the release until it is cancelled, or release_wait has passed",
                 "[faults]") {
  FrameProxy proxy{server.port()};
  const Client distant{{.connect_string = proxy.address(), .session_timeout = session_timeout}};
  const InterProcessMutex theirs{distant, path};
  std::atomic<bool> worked{false};
  const auto work = [&]() -> asio::awaitable<int> {
    proxy.hold(Direction::replies);
    worked = true;
    co_return 7;
  };
  SECTION("until the reply is there") {
    auto working = asio::co_spawn(pool, with_lease(theirs, work), asio::use_future);
    REQUIRE(eventually([&] { return worked && queue_length() == 0; }));
    CHECK(working.wait_for(50ms) == std::future_status::timeout);
    proxy.resume(Direction::replies);
    CHECK(working.get() == 7);
  }
  SECTION("release_wait has passed") {
    CHECK(run(with_lease(theirs, HoldOptions{.wait = 20s, .release_wait = 50ms}, work)) == 7);
  }
  SECTION("release_wait is zero") { CHECK(run(with_lease(theirs, HoldOptions{.release_wait = 0ms}, work)) == 7); }
  SECTION("it is cancelled") {
    std::atomic<int> result{0};
    const auto outer = [&]() -> asio::awaitable<void> { result = co_await with_lease(theirs, work); };
    Running running{pool.get_executor(), outer()};
    REQUIRE(eventually([&] { return worked && queue_length() == 0; }));
    CHECK_FALSE(running.ready(50ms));
    running.cancel();
    CHECK_FALSE(running.get());
    CHECK(result == 7);
  }
  CHECK(eventually([&] { return queue_length() == 0; }));
  proxy.resume(Direction::replies);
}

TEST_CASE_METHOD(Fixture, "a coroutine that was cancelled in with_lease is cancelled after it") {
  std::atomic<bool> inside{false};
  bool went_on = false;
  const auto stubborn = [&]() -> asio::awaitable<void> {
    Timer timer{co_await asio::this_coro::executor, Clock::time_point::max()};
    inside = true;
    const auto [cancelled] = co_await timer.async_wait(use_tuple);
    CHECK(cancelled == asio::error::operation_aborted);
  };
  const auto outer = [&]() -> asio::awaitable<void> {
    co_await with_lease(mutex, stubborn);
    went_on = true;
    co_await wait_for_ever();
  };
  Running running{pool.get_executor(), outer()};
  REQUIRE(eventually([&] { return inside.load(); }));
  running.cancel();
  CHECK(running.get() == asio::error::operation_aborted);
  CHECK(went_on);
  CHECK(eventually([&] { return queue_length() == 0; }));
}

TEST_CASE_METHOD(Fixture, "with_lease reports that the lock was lost, unless the body throws an error of its own") {
  const auto lose = [&](Lease& lease) -> asio::awaitable<int> {
    end(client.session());
    co_await lease.async_wait_lost();
    co_return 1;
  };
  CHECK(error_of(with_lease(mutex, lose)) == LockError::lock_lost);
  const auto lose_and_throw = [&](Lease& lease) -> asio::awaitable<int> {
    end(client.session());
    co_await lease.async_wait_lost();
    throw std::out_of_range{"sold out"};
  };
  CHECK_THROWS_AS(run(with_lease(mutex, lose_and_throw)), std::out_of_range);
  CHECK(leaves_no_trace(server, session, path));
}

TEST_CASE_METHOD(Fixture, "a body of with_lease may release the lock itself, or take the lease with it") {
  CHECK_FALSE(error_of(with_lease(mutex, [&](Lease& lease) -> asio::awaitable<void> {
    co_await lease.async_release();
    CHECK(queue_length() == 0);
  })));
  auto take = [](Lease& lease) -> asio::awaitable<Lease> { co_return std::move(lease); };
  const Lease kept = run(with_lease(mutex, take));
  CHECK(kept.is_held());
  CHECK(queue_length() == 1);
}

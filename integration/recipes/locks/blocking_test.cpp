// Blocking calls with a deadline, of a client whose executor does not run, or is busy.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <zklock/recipes/barriers/distributed_barrier.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>
#include <zklock/recipes/locks/lock_registry.hpp>
#include <zklock/recipes/locks/revocation.hpp>
#include <zklock/recipes/shared/shared_count.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr auto wait = 300ms;

/// A blocking call; `make` returns whether it got what it waits for.
struct Call {
  std::string name;
  std::function<bool(const ClientHandle&, const std::string& path)> make;
};

const std::vector<Call>& acquires() {
  static const std::vector<Call> all{
      {"wait_connected", [](const ClientHandle& c, const std::string&) { return c.wait_connected(wait); }},
      {"a mutex",
       [](const ClientHandle& c, const std::string& p) {
         return InterProcessMutex{c, p}.try_lock_for(wait);
       }},
      {"a mutex, until",
       [](const ClientHandle& c, const std::string& p) {
         return InterProcessMutex{c, p}.try_lock_until(Clock::now() + wait);
       }},
      {"a read lock",
       [](const ClientHandle& c, const std::string& p) {
         return InterProcessReadWriteLock{c, p}.read_lock().acquire(wait);
       }},
      {"a write lock",
       [](const ClientHandle& c, const std::string& p) {
         return InterProcessReadWriteLock{c, p}.write_lock().acquire(wait);
       }},
      {"a semaphore",
       [](const ClientHandle& c, const std::string& p) {
         return InterProcessSemaphore{c, p, 2}.acquire(wait).has_value();
       }},
      {"permits",
       [](const ClientHandle& c, const std::string& p) {
         return InterProcessSemaphore{c, p, 2}.acquire_many(2, wait).has_value();
       }},
      {"a semaphore mutex",
       [](const ClientHandle& c, const std::string& p) {
         return InterProcessSemaphoreMutex{c, p}.acquire(wait);
       }},
      {"several locks",
       [](const ClientHandle& c, const std::string& p) {
         return InterProcessMultiLock{c, {p + "/a", p + "/b"}}.acquire(wait);
       }},
      {"a registry",
       [](const ClientHandle& c, const std::string& p) {
         const LockOptions options{.wait = wait, .tries = 2, .interval = 1ms, .max_interval = 1ms};
         return LockRegistry{c, p}.try_lock("name", Isolation::write, options).has_value();
       }},
      {"a try for a mutex",
       [](const ClientHandle& c, const std::string& p) {
         return InterProcessMutex{c, p}.try_lock();
       }},
      {"a try for permits",
       [](const ClientHandle& c, const std::string& p) {
         return InterProcessSemaphore{c, p, 2}.acquire_many(2, 0s).has_value();
       }},
      {"a try by a registry",
       [](const ClientHandle& c, const std::string& p) {
         return LockRegistry{c, p}.try_lock("name", Isolation::write).has_value();
       }},
      {"tries by a registry",
       [](const ClientHandle& c, const std::string& p) {
         const LockOptions options{.wait = 0s, .tries = 2, .interval = 1ms, .max_interval = 1ms};
         return LockRegistry{c, p}.try_lock("name", Isolation::read, options).has_value();
       }},
  };
  return all;
}

/// A lock that a thread acquires; `acquire` returns the call that releases it.
struct Release {
  std::string name;
  std::function<std::function<bool()>(const ClientHandle&, const std::string& path)> acquire;
};

template <class Lock>
std::function<bool()> acquired(std::shared_ptr<Lock> lock) {
  lock->acquire();
  return [lock = std::move(lock)] { return lock->release(wait); };
}

const std::vector<Release>& releases() {
  static const std::vector<Release> all{
      {"release of a mutex",
       [](const ClientHandle& c, const std::string& p) { return acquired(std::make_shared<InterProcessMutex>(c, p)); }},
      {"release of a semaphore mutex",
       [](const ClientHandle& c, const std::string& p) {
         return acquired(std::make_shared<InterProcessSemaphoreMutex>(c, p));
       }},
      {"release of several locks",
       [](const ClientHandle& c, const std::string& p) {
         const std::vector<std::string> paths{p + "/a", p + "/b"};
         return acquired(std::make_shared<InterProcessMultiLock>(c, paths));
       }},
  };
  return all;
}

/// The outcome of all calls at once: those that got something, and those that did not return in time.
struct Answers {
  std::vector<std::string> given;
  std::vector<std::string> hanging;
};

/// Blocking calls, each on a thread of its own.
class Calls {
 public:
  /// Adds the releases, and first acquires their locks, for which the executor must run. The calls wait for start().
  void prepare_releases(const ClientHandle& client, const std::string& path) {
    std::vector<std::future<void>> acquired;
    for (const Release& release : releases()) {
      std::promise<void> ready;
      acquired.push_back(ready.get_future());
      add(release.name, [acquire = release.acquire, client, path = fresh(path), started = started_,
                         ready = std::move(ready)]() mutable {
        const auto call = acquire(client, path);
        ready.set_value();
        started.wait();
        return call();
      });
    }
    for (auto& each : acquired) each.get();
  }
  void add_acquires(const ClientHandle& client, const std::string& path) {
    for (const Call& call : acquires())
      add(call.name, [make = call.make, client, path = fresh(path), started = started_] {
        started.wait();
        return make(client, path);
      });
  }

  /// Calls `afterwards` when all calls have returned, or should have.
  [[nodiscard]] Answers start(const std::function<void()>& afterwards) {
    start_.set_value();
    Answers all;
    const auto has_returned = [](const Answer& call) { return call.second.wait_for(0s) == std::future_status::ready; };
    static_cast<void>(eventually([&] { return std::ranges::all_of(answers_, has_returned); }));
    for (const Answer& call : answers_)
      if (!has_returned(call)) all.hanging.push_back(call.first);
    afterwards();
    for (auto& [name, answer] : answers_)
      if (is_given(answer)) all.given.push_back(name);
    return all;
  }

 private:
  using Answer = std::pair<std::string, std::future<bool>>;

  template <class Body>
  void add(const std::string& name, Body body) {
    answers_.emplace_back(name, std::async(std::launch::async, std::move(body)));
  }
  std::string fresh(const std::string& path) const { return path + "/" + std::to_string(answers_.size()); }
  /// A single try reports by an exception that the server did not reply.
  static bool is_given(std::future<bool>& answer) {
    try {
      return answer.get();
    } catch (const boost::system::system_error& error) {
      CHECK((error.code() == Error::connection_loss || error.code() == Error::not_connected ||
             error.code() == Error::executor_not_running));
      return false;
    }
  }

  std::promise<void> start_;
  std::shared_future<void> started_ = start_.get_future().share();
  std::vector<Answer> answers_;
};

}  // namespace

TEST_CASE("a blocking call ends at its deadline also if the client's executor does not run, and leaves no trace") {
  testing::TestServer server;
  asio::io_context context;
  Client client{
      context.get_executor(),
      {.connect_string = server.connect_string(), .session_timeout = session_timeout, .connection_timeout = 2s}};
  const bool connected = GENERATE(false, true);
  Calls calls;
  if (connected) {
    std::jthread runner{[&] { context.run(); }};
    CHECK(client.wait_connected(30s));
    calls.prepare_releases(client, "/locks");
    context.stop();
  }
  context.restart();
  calls.add_acquires(client, "/locks");
  std::jthread runner;
  const Answers answers = calls.start([&] {
    runner = std::jthread{[&] { context.run(); }};  // the executor runs now: attempts that begin too late are cancelled
  });
  CHECK(answers.hanging == std::vector<std::string>{});
  CHECK(answers.given == std::vector<std::string>{});
  // By now the client has run all that was posted, and sent all its requests.
  CHECK(client.wait_connected(30s));
  CHECK(eventually([&] { return server.monitor("zk_ephemerals_count") == 0; }));
  CHECK_FALSE(sync(client.session()));
  CHECK(server.monitor("zk_ephemerals_count") == 0);
  CHECK(eventually([&] { return server.monitor("zk_watch_count") == 0; }));
  outcome_of_operation<>([&](auto token) { client.async_close(std::move(token)); });
}

namespace {

/// Blocking calls that wait for longer than a second while nothing runs the executor, most of them without a limit.
struct EndlessCall {
  std::string name;
  std::function<void(const ClientHandle&, const std::string& path)> make;
};

const std::vector<EndlessCall>& endless_calls() {
  static const std::vector<EndlessCall> all{
      {"lock",
       [](const ClientHandle& c, const std::string& p) {
         InterProcessMutex{c, p}.lock();
       }},
      {"try_lock",
       [](const ClientHandle& c, const std::string& p) {
         static_cast<void>(InterProcessMutex{c, p}.try_lock());
       }},
      {"acquire(2s)",
       [](const ClientHandle& c, const std::string& p) {
         static_cast<void>(InterProcessMutex{c, p}.acquire(2s));
       }},
      {"participants",
       [](const ClientHandle& c, const std::string& p) {
         static_cast<void>(InterProcessMutex{c, p}.participants());
       }},
      {"a semaphore",
       [](const ClientHandle& c, const std::string& p) {
         static_cast<void>(InterProcessSemaphore{c, p, 2}.acquire_many(2));
       }},
      {"several locks",
       [](const ClientHandle& c, const std::string& p) {
         InterProcessMultiLock{c, {p + "/a", p + "/b"}}.acquire();
       }},
      {"a registry",
       [](const ClientHandle& c, const std::string& p) {
         static_cast<void>(LockRegistry{c, p}.lock("name", Isolation::write));
       }},
      {"an election",
       [](const ClientHandle& c, const std::string& p) {
         static_cast<void>(LeaderLatch{c, p}.lead());
       }},
      {"leaders",
       [](const ClientHandle& c, const std::string& p) {
         LeaderLatch{c, p}.leaders().next();
       }},
      {"a barrier",
       [](const ClientHandle& c, const std::string& p) {
         DistributedBarrier{c, p}.set();
       }},
      {"a count",
       [](const ClientHandle& c, const std::string& p) {
         static_cast<void>(SharedCount{c, p, 0}.get());
       }},
      {"a revocation", [](const ClientHandle& c, const std::string& p) { attempt_revoke(c, p + "/node"); }},
  };
  return all;
}

}  // namespace

TEST_CASE("a blocking call without a limit says that nothing runs the client's executor, also when it ran before") {
  testing::TestServer server;
  asio::io_context context;
  Client client{
      context.get_executor(),
      {.connect_string = server.connect_string(), .session_timeout = session_timeout, .connection_timeout = 3s}};
  const bool ran_before = GENERATE(false, true);
  if (ran_before) {
    std::jthread runner{[&] { context.run(); }};
    CHECK(client.wait_connected(30s));
    context.stop();
  } else {
    CHECK(client.connection_trouble() == "nothing has run the client's executor yet");
  }
  using Answer = std::pair<error_code, std::string>;
  std::vector<std::future<Answer>> answers;
  for (const EndlessCall& call : endless_calls())
    answers.push_back(std::async(std::launch::async, [&, path = "/locks/" + std::to_string(answers.size())] {
      try {
        call.make(client, path);
      } catch (const boost::system::system_error& error) {
        return Answer{error.code(), error.what()};
      }
      return Answer{{}, "it got what it waited for"};
    }));
  CHECK(eventually([&] {
    return std::ranges::all_of(answers, [](auto& each) { return each.wait_for(0s) == std::future_status::ready; });
  }));
  context.restart();
  std::jthread runner{[&] { context.run(); }};  // attempts that begin too late are cancelled
  for (std::size_t i = 0; i < answers.size(); ++i) {
    INFO(endless_calls()[i].name);
    const auto [error, what] = answers[i].get();
    CHECK(error == Error::executor_not_running);
    CHECK(what.find("nothing runs the client's executor") != std::string::npos);
  }
  CHECK(client.wait_connected(30s));
  CHECK(eventually([&] { return server.monitor("zk_ephemerals_count") == 0; }));
  CHECK_FALSE(sync(client.session()));
  CHECK(server.monitor("zk_ephemerals_count") == 0);
  outcome_of_operation<>([&](auto token) { client.async_close(std::move(token)); });
}

TEST_CASE("a blocking call in a handler says what to await there") {
  asio::io_context context;
  Client client{context.get_executor(), {.connect_string = "127.0.0.1:1"}};
  std::string what;
  asio::post(context, [&] {
    try {
      InterProcessMutex{client, "/locks/orders"}.lock();
    } catch (const boost::system::system_error& error) {
      CHECK(error.code() == Error::blocking_in_handler);
      CHECK(error.code() == boost::system::errc::resource_deadlock_would_occur);
      what = error.what();
    }
    context.stop();
  });
  context.run();
  CHECK(what.find("await its async_ form (async_acquire for lock)") != std::string::npos);
  CHECK(what.find("release first") == std::string::npos);
}

namespace {

/// An executor that runs, and that a test can keep busy.
struct Busy {
  asio::io_context context;
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(context);
  std::jthread runner{[this] { context.run(); }};

  Busy() = default;
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() { work.reset(); }

  /// Keeps it busy from now on until the promise is fulfilled, for a minute at most.
  std::promise<void> keep() {
    std::promise<void> begun;
    std::promise<void> enough;
    asio::post(context, [&begun, free = enough.get_future()]() mutable {
      begun.set_value();
      free.wait_for(1min);
    });
    begun.get_future().wait();
    return enough;
  }
};

}  // namespace

TEST_CASE("a blocking call ends at its deadline also if the client's executor is busy") {
  testing::TestServer server;
  Busy executor;
  Client client{
      executor.context.get_executor(),
      {.connect_string = server.connect_string(), .session_timeout = session_timeout, .connection_timeout = 2s}};
  CHECK(client.wait_connected(30s));
  Calls calls;
  calls.prepare_releases(client, "/locks");
  calls.add_acquires(client, "/locks");
  std::promise<void> enough = executor.keep();
  const Answers answers = calls.start([&] { enough.set_value(); });
  CHECK(answers.hanging == std::vector<std::string>{});
  CHECK(answers.given == std::vector<std::string>{});
  CHECK_FALSE(sync(client.session()));
  CHECK(eventually([&] { return server.monitor("zk_ephemerals_count") == 0; }));
  outcome_of_operation<>([&](auto token) { client.async_close(std::move(token)); });
}

TEST_CASE("a thread whose blocking call ended before its attempt did gets a free lock by one try") {
  testing::TestServer server;
  Busy executor;
  Client client{executor.context.get_executor(),
                {.connect_string = server.connect_string(), .session_timeout = session_timeout}};
  CHECK(client.wait_connected(30s));
  for (int i = 0; i < 5; ++i) {
    InterProcessMutex mutex{client, "/locks/" + std::to_string(i)};
    std::promise<void> enough = executor.keep();
    CHECK_FALSE(mutex.try_lock_for(50ms));
    auto trying = mutex.async_acquire(Owner::this_thread(), 0s, asio::use_future);
    enough.set_value();
    CHECK_NOTHROW(trying.get());
  }
  outcome_of_operation<>([&](auto token) { client.async_close(std::move(token)); });
}

// What a lock costs that a client takes again and again, and what its client learns of the lock's directory.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::pause;

namespace {

const std::string directory = "/locks/orders";
constexpr auto as_tuple = asio::as_tuple(asio::deferred);

ClientConfig patient() { return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}}; }

/// The requests of a client, without those that a session sends by itself.
struct Fixture {
  Simulation simulation{};
  std::string requests{};
  std::function<FakeFault(const FakeCall&)> fault{};

  Fixture() {
    simulation.ensemble().on_call([this](const FakeCall& call) {
      if (!call.applied && call.operation != "sync" && call.operation != "connect" && call.operation != "close")
        requests += (requests.empty() ? "" : " ") + std::string{call.operation};
      return fault ? fault(call) : FakeFault::none;
    });
  }
  std::string sent() { return std::exchange(requests, {}); }
  InterProcessMutex mutex(const std::string& client) { return {simulation.client(client, patient()), directory}; }
  void play(std::function<asio::awaitable<void>()> body) {
    simulation.actor(std::move(body));
    simulation.run();
    INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
    CHECK(simulation.failures().empty());
  }
  [[nodiscard]] std::size_t nodes() const { return children().size(); }
  [[nodiscard]] std::vector<std::string> children() const {
    std::vector<std::string> paths;
    for (const FakeNode& node : simulation.ensemble().nodes())
      if (node.path.starts_with(directory + "/")) paths.push_back(node.path);
    return paths;
  }
};

asio::awaitable<std::string> cycle(Fixture& fixture, const InterProcessMutex& mutex) {
  auto [error, lease] = co_await mutex.async_acquire(as_tuple);
  CHECK_FALSE(error);
  const auto [failed] = co_await lease.async_release(as_tuple);
  CHECK_FALSE(failed);
  co_return fixture.sent();
}

asio::awaitable<error_code> try_once(const InterProcessMutex& mutex) {
  auto [error, lease] = co_await mutex.async_acquire(0s, as_tuple);
  co_return error;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a client that takes a lock again and again sends a create and a delete each time") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    co_await cycle(*this, mine);  // which makes the directory
    {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create get_children remove");
    }
    {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create get_data get_children remove");
    }
    for (int i = 0; i < 5; ++i) {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create remove");
    }
    {
      const auto outcome = co_await try_once(mine);
      CHECK(outcome == error_code{});
    }
    CHECK(sent() == "create remove");
  });
}

TEST_CASE_METHOD(Fixture, "readers and writers that a client lets in again and again send a create and a delete each") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock lock{simulation.client("a", patient()), directory};
    for (const InterProcessMutex* half : {&lock.write_lock(), &lock.read_lock()}) {
      for (int i = 0; i < 3; ++i) co_await cycle(*this, *half);
      for (int i = 0; i < 3; ++i) {
        const auto outcome = co_await cycle(*this, *half);
        CHECK(outcome == "create remove");
      }
    }
    {
      const auto outcome = co_await cycle(*this, lock.write_lock());
      CHECK(outcome == "create get_children remove");
    }  // behind a reader
    {
      const auto outcome = co_await cycle(*this, lock.read_lock());
      CHECK(outcome == "create remove");
    }
    const Lease reading = co_await lock.read_lock().async_acquire();
    sent();
    {
      const auto outcome = co_await cycle(*this, lock.read_lock());
      CHECK(outcome == "create remove");
    }  // beside a reader
  });
}

TEST_CASE_METHOD(Fixture, "two clients that take a lock in turn list the queue in the flight of the create") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    const InterProcessMutex theirs = mutex("b");
    for (int i = 0; i < 4; ++i) co_await cycle(*this, mine);
    co_await cycle(*this, theirs);
    {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create get_children remove");
    }  // a wrong guess
    for (int i = 0; i < 3; ++i) {
      {
        const auto outcome = co_await cycle(*this, theirs);
        CHECK(outcome == "create get_children remove");
      }
      {
        const auto outcome = co_await cycle(*this, mine);
        CHECK(outcome == "create get_children remove");
      }
    }
    {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create get_children remove");
    }
    {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create remove");
    }  // alone again
  });
}

TEST_CASE_METHOD(Fixture, "whatever happens to the directory or the link, the next acquire lists the queue") {
  const int what = GENERATE(0, 1, 2, 3);
  CAPTURE(what);
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    for (int i = 0; i < 4; ++i) {
      const auto outcome = co_await cycle(*this, mine);
      CHECK_FALSE(outcome.empty());
    }
    switch (what) {
      case 0: simulation.delete_as_operator(directory); break;
      case 1: simulation.ensemble().set_data(directory, "x"); break;
      case 2: simulation.ensemble().cut_all(); break;
      default: break;
    }
    co_await pause(what == 3 ? 121s : 1s);
    const std::string these = co_await cycle(*this, mine);
    CAPTURE(these);
    CHECK(these.find("get_children") != std::string::npos);
  });
}

TEST_CASE_METHOD(Fixture,
                 "a holder whose lock is deleted with its directory is told by the server, and waiters enqueue") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    const InterProcessMutex theirs = mutex("b");
    for (int i = 0; i < 2; ++i) co_await cycle(*this, mine);
    const Lease held = co_await mine.async_acquire();
    Lease next;
    mine.async_acquire(
        asio::bind_executor(simulation.executor(), [&](error_code, Lease lease) { next = std::move(lease); }));
    co_await pause(10ms);
    simulation.delete_as_operator(directory);
    co_await pause(10ms);
    CHECK(held.state() == LeaseState::lost);
    CHECK(next.is_held());  // in the new directory
    const auto [busy, none] = co_await theirs.async_acquire(0s, as_tuple);
    CHECK(busy == Error::timed_out);
  });
}

TEST_CASE_METHOD(
    Fixture,
    "the next node of a client does not follow, in a new directory, the node that its client had in the old one") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    const InterProcessMutex theirs = mutex("b");
    Lease held = co_await mine.async_acquire();  // number 0
    simulation.delete_as_operator(directory);
    Lease foreign = co_await theirs.async_acquire();  // number 0 again
    Lease next;
    mine.async_acquire(
        asio::bind_executor(simulation.executor(), [&](error_code, Lease lease) { next = std::move(lease); }));
    co_await pause(10ms);
    CHECK_FALSE(next.is_held());  // its number follows that of the lock that was lost
    const auto [error] = co_await held.async_release(as_tuple);
    CHECK(error == LockError::lock_lost);
    co_await pause(10ms);
    CHECK_FALSE(next.is_held());
    foreign = Lease{};
    co_await pause(10ms);
    CHECK(next.is_held());
  });
}

TEST_CASE_METHOD(Fixture, "a try after one that has failed reads the queue, and writes only if nobody is ahead") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    const InterProcessMutex theirs = mutex("b");
    Lease held = co_await theirs.async_acquire();
    sent();
    {
      const auto outcome = co_await try_once(mine);
      CHECK(outcome == Error::timed_out);
    }
    co_await pause(10ms);
    CHECK(sent() == "create get_children remove");
    for (int i = 0; i < 3; ++i) {
      {
        const auto outcome = co_await try_once(mine);
        CHECK(outcome == Error::timed_out);
      }
      CHECK(sent() == "get_children");
    }
    held = Lease{};
    co_await pause(10ms);
    sent();
    {
      const auto outcome = co_await try_once(mine);
      CHECK(outcome == error_code{});
    }
    co_await pause(10ms);
    CHECK(sent().starts_with("get_children create"));
    CHECK(nodes() == 0);
    simulation.delete_as_operator(directory);
    {
      const auto outcome = co_await try_once(mine);
      CHECK(outcome == error_code{});
    }  // and makes the directory
  });
}

// ---- a node that a leader makes late

namespace {

/// Loses the first create of a client's node, and lets another client make that node, as a leader of 3.8.0 may do.
struct Late : Fixture {
  std::string lost{};

  void lose_next_create() {
    fault = [this](const FakeCall& call) {
      if (call.operation != "create" || !call.path.starts_with(directory + "/") || !lost.empty())
        return FakeFault::none;
      lost = call.path;
      return FakeFault::cut;
    };
  }
  asio::awaitable<void> make_late_node() {
    const Session session = simulation.client("leader", patient()).session();
    const auto [error, made] = co_await session.async_create(lost, "", CreateMode::ephemeral_sequential, as_tuple);
    CHECK_FALSE(error);
    CHECK(std::ranges::count(children(), made.path) == 1);
  }
};

}  // namespace

TEST_CASE_METHOD(Late, "a node that is made late is deleted when the attempt's lock is given back") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    static_cast<void>(simulation.client("leader", patient()));
    co_await cycle(*this, mine);
    lose_next_create();
    auto [error, lease] = co_await mine.async_acquire(as_tuple);
    CHECK_FALSE(error);
    CHECK_FALSE(lost.empty());
    co_await make_late_node();
    CHECK(nodes() == 2);
    const auto [failed] = co_await lease.async_release(as_tuple);
    CHECK_FALSE(failed);
    co_await pause(1s);
    CHECK(nodes() == 0);
  });
}

TEST_CASE_METHOD(Late, "a node that is made later still is deleted when its client lists the directory") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    static_cast<void>(simulation.client("leader", patient()));
    co_await cycle(*this, mine);
    lose_next_create();
    co_await cycle(*this, mine);
    co_await pause(20ms);
    co_await make_late_node();
    CHECK(nodes() == 1);
    {
      const auto outcome = co_await cycle(*this, mine);
      CHECK_FALSE(outcome.empty());
    }  // it waits until the late node is gone
    co_await pause(1s);
    CHECK(nodes() == 0);
  });
}

TEST_CASE_METHOD(Late, "a node that is made late ahead of the attempt's own does not hold it up") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    static_cast<void>(simulation.client("leader", patient()));
    co_await cycle(*this, mine);
    lose_next_create();
    const auto is_late = std::make_shared<bool>(false);  // requests are made when this coroutine is gone, too
    const auto losing = fault;
    fault = [this, losing, is_late](const FakeCall& call) {
      // The client has searched for its node, and is about to make it again.
      if (!lost.empty() && !*is_late && call.operation == "get_children" && call.applied) {
        *is_late = true;
        asio::post(simulation.executor(), [this] {
          simulation.client("leader").session().async_create(
              lost, "", CreateMode::ephemeral_sequential,
              asio::bind_executor(simulation.executor(), [](error_code, const CreateResult&) {}));
        });
      }
      return losing(call);
    };
    const auto [error, lease] = co_await mine.async_acquire(5s, as_tuple);
    CHECK_FALSE(error);
    CHECK(lease.is_held());
    CHECK(*is_late);
  });
}

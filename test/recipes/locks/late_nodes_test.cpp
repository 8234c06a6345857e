// Nodes that a leader of 3.8.0 makes after it has shown that they do not exist.
#include "repeated_lock.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/owner.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <memory>

using namespace zklock;
using namespace zklock::test;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

/// Loses the first create of a client's node, and lets another client make that node, as a leader of 3.8.0 may do.
struct Late : RepeatedLock {
  std::string lost{};

  void lose_next_create() {
    fault = [this](const FakeCall& call) {
      if (call.operation != "create" || !call.path.starts_with(lock_directory + "/") || !lost.empty())
        return FakeFault::none;
      lost = call.path;
      return FakeFault::cut;
    };
  }
  /// Makes it when the client has searched for its node, and is about to make it again.
  std::shared_ptr<bool> make_it_after_search(const std::string& maker, CreateMode mode) {
    const auto is_late = std::make_shared<bool>(false);  // requests are made when the test's coroutine is gone, too
    fault = [this, losing = fault, is_late, maker, mode](const FakeCall& call) {
      if (!lost.empty() && !*is_late && call.operation == "get_children" && call.applied) {
        *is_late = true;
        asio::post(simulation.executor(), [this, maker, mode] {
          simulation.client(maker).session().async_create(
              lost, "", mode, asio::bind_executor(simulation.executor(), [](error_code, const CreateResult&) {}));
        });
      }
      return losing(call);
    };
    return is_late;
  }
  asio::awaitable<void> make_late_node(CreateMode mode = CreateMode::ephemeral_sequential) {
    const Session session = simulation.client("leader", patient_config()).session();
    const auto [error, made] = co_await session.async_create(lost, "", mode, as_tuple);
    CHECK_FALSE(error);
    CHECK(std::ranges::count(children(), made.path) == 1);
  }
};

}  // namespace

TEST_CASE_METHOD(Late, "a node that is made late is deleted when the attempt's lock is given back") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    static_cast<void>(simulation.client("leader", patient_config()));
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
    static_cast<void>(simulation.client("leader", patient_config()));
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
    static_cast<void>(simulation.client("leader", patient_config()));
    co_await cycle(*this, mine);
    lose_next_create();
    const auto is_late = make_it_after_search("leader", CreateMode::ephemeral_sequential);
    const auto [error, lease] = co_await mine.async_acquire(5s, as_tuple);
    CHECK_FALSE(error);
    CHECK(lease.is_held());
    CHECK(*is_late);
  });
}

TEST_CASE_METHOD(Late, "a late node of a reader that was a writer is deleted when its client lists the directory") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock lock{simulation.client("a", patient_config()), lock_directory};
    static_cast<void>(simulation.client("leader", patient_config()));
    const Owner owner = Owner::make();
    Lease writing = co_await lock.write_lock().async_acquire(owner);
    lose_next_create();
    Lease reading = co_await lock.read_lock().async_acquire(owner);
    CHECK(lost.find("__READ__") != std::string::npos);
    writing = Lease{};
    const auto [failed] = co_await reading.async_release(as_tuple);
    CHECK_FALSE(failed);
    co_await pause(20ms);
    co_await make_late_node(CreateMode::ephemeral);
    CHECK(nodes() == 1);
    const auto [error, next] = co_await lock.write_lock().async_acquire(5s, as_tuple);
    CHECK_FALSE(error);
    CHECK(nodes() == 1);  // its own
  });
}

TEST_CASE_METHOD(Late, "a reader that was a writer finds its node when the leader makes it late, and gives it back") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock lock{simulation.client("a", patient_config()), lock_directory};
    const Owner owner = Owner::make();
    Lease writing = co_await lock.write_lock().async_acquire(owner);
    simulation.ensemble().set_latency(1ms);  // so the late create is ahead of the second one
    lose_next_create();
    const auto is_late = make_it_after_search("a", CreateMode::ephemeral);
    auto [error, reading] = co_await lock.read_lock().async_acquire(owner, as_tuple);
    CHECK_FALSE(error);
    CHECK(reading.is_held());
    CHECK(*is_late);
    writing = Lease{};
    reading = Lease{};
    co_await pause(1s);
    CHECK(nodes() == 0);
  });
}

// What a client learns when an operator deletes the directory of its locks, and it is made anew.
#include "repeated_lock.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/owner.hpp>

using namespace zklock;
using namespace zklock::test;
using namespace zklock::testing;
using namespace std::chrono_literals;

TEST_CASE_METHOD(RepeatedLock, "a holder is told of its loss when a number that is not greater comes after its own") {
  const int number = GENERATE(0, 1);
  CAPTURE(number);
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    for (int i = 0; i < number; ++i) co_await cycle(*this, mine);
    const Lease held = co_await mine.async_acquire();
    CHECK_FALSE(is_watched());  // so no event tells it
    simulation.delete_as_operator(lock_directory);
    const Lease next = co_await mine.async_acquire();  // number 0, in the new directory
    CHECK(next.is_held());
    CHECK(held.state() == LeaseState::lost);
  });
}

TEST_CASE_METHOD(RepeatedLock, "a writer that went on as a reader is told of its directory's end") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock lock{simulation.client("a", patient_config()), lock_directory};
    for (int i = 0; i < 3; ++i) co_await cycle(*this, lock.write_lock());
    CHECK(is_watched());
    const Owner owner = Owner::make();
    Lease writing = co_await lock.write_lock().async_acquire(owner);
    const Lease reading = co_await lock.read_lock().async_acquire(owner);
    writing = Lease{};
    co_await pause(10ms);
    CHECK(reading.is_held());
    simulation.delete_as_operator(lock_directory);
    co_await pause(10ms);
    CHECK(reading.state() == LeaseState::lost);
  });
}

TEST_CASE_METHOD(RepeatedLock, "a local writer behind a reader that was a writer is handed the lock off") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessReadWriteLock lock{simulation.client("a", patient_config()), lock_directory};
    const Owner owner = Owner::make();
    Lease writing = co_await lock.write_lock().async_acquire(owner);
    Lease next;
    lock.write_lock().async_acquire(
        asio::bind_executor(simulation.executor(), [&](error_code, Lease lease) { next = std::move(lease); }));
    co_await pause(10ms);
    Lease reading = co_await lock.read_lock().async_acquire(owner);
    writing = Lease{};
    co_await pause(10ms);
    CHECK_FALSE(next.is_held());
    CHECK(std::ranges::none_of(simulation.ensemble().watches(),
                               [&](const FakeWatch& each) { return each.path == reading.node_path(); }));
    sent();
    reading = Lease{};
    co_await pause(10ms);
    CHECK(next.is_held());
    CHECK(sent() == "commit");  // no list, and no question whether the node exists
  });
}

TEST_CASE_METHOD(RepeatedLock, "a holder is told of its directory's end also when the directory has had new data") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    for (int i = 0; i < 3; ++i) co_await cycle(*this, mine);
    const Lease held = co_await mine.async_acquire();
    for (const char* data : {"x", "y"}) {
      CHECK(is_watched());
      simulation.ensemble().set_data(lock_directory, data);
      co_await pause(10ms);
    }
    CHECK(held.is_held());
    simulation.delete_as_operator(lock_directory);
    co_await pause(10ms);
    CHECK(held.state() == LeaseState::lost);
  });
}

TEST_CASE_METHOD(RepeatedLock, "the number of a client's next node proves nothing where its directory was deleted") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    const InterProcessMutex theirs = mutex("b");
    for (int i = 0; i < 4; ++i) co_await cycle(*this, mine);  // numbers 0 to 3; the last two by their numbers alone
    CHECK(is_watched());
    simulation.ensemble().hold_replies(simulation.client("a").session().id());
    simulation.delete_as_operator(lock_directory);
    Lease foreign = co_await theirs.async_acquire();
    co_await count_to("b", 4);
    Lease next;
    mine.async_acquire(
        asio::bind_executor(simulation.executor(), [&](error_code, Lease lease) { next = std::move(lease); }));
    co_await pause(10ms);
    CHECK(std::ranges::any_of(children(), [](const auto& path) { return path.ends_with("lock-0000000004"); }));
    simulation.ensemble().release_replies();  // the directory's event ahead of the create's reply
    co_await pause(10ms);
    CHECK_FALSE(next.is_held());
    foreign = Lease{};
    co_await pause(10ms);
    CHECK(next.is_held());
  });
}

TEST_CASE_METHOD(RepeatedLock, "a waiter behind a local node that others have deleted looks at the queue again") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    const InterProcessMutex theirs = mutex("b");
    const Owner owner = Owner::make();
    const Lease held = co_await mine.async_acquire(owner);
    Lease next;
    bool is_granted = false;
    mine.async_acquire(asio::bind_executor(simulation.executor(), [&](error_code error, Lease lease) {
      is_granted = !error;
      next = std::move(lease);
    }));
    co_await pause(10ms);
    CHECK_FALSE(is_watched());
    simulation.delete_as_operator(lock_directory);
    Lease foreign = co_await theirs.async_acquire();
    const Lease again = co_await mine.async_acquire(owner);  // writes the count, and so finds that the node is gone
    co_await pause(10ms);
    CHECK(held.state() == LeaseState::lost);
    CHECK_FALSE(is_granted);
    foreign = Lease{};
    co_await pause(10ms);
    CHECK(is_granted);
    CHECK(next.is_held());
  });
}

namespace {

/// Servers that keep the events of nodes from clients that may not read them.
struct HiddenEvents : RepeatedLock {
  HiddenEvents() : RepeatedLock{{.hides_events = true}} {}
};

}  // namespace

TEST_CASE_METHOD(HiddenEvents, "a directory whose events its client may not hear is trusted for two minutes at most") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = mutex("a");
    const InterProcessMutex theirs = mutex("b");
    for (int i = 0; i < 4; ++i) co_await cycle(*this, mine);
    CHECK(is_watched());
    const Acl unreadable{{Permission::create | Permission::remove, "world", "anyone"}};
    const auto [failed] =
        co_await simulation.client("a").session().async_set_acl(lock_directory, unreadable, any_version, as_tuple);
    CHECK_FALSE(failed);
    const auto events = simulation.ensemble().counters().watch_events;
    simulation.delete_as_operator(lock_directory);
    CHECK(simulation.ensemble().counters().watch_events == events);
    Lease foreign = co_await theirs.async_acquire();
    co_await count_to("b", 4);
    co_await pause(121s);
    Lease next;
    mine.async_acquire(
        asio::bind_executor(simulation.executor(), [&](error_code, Lease lease) { next = std::move(lease); }));
    co_await pause(10ms);
    CHECK_FALSE(next.is_held());
    foreign = Lease{};
    co_await pause(10ms);
    CHECK(next.is_held());
  });
}

TEST_CASE_METHOD(RepeatedLock, "a client whose watches are as many as may be lists the queue, and gets its locks") {
  play([&]() -> asio::awaitable<void> {
    ClientConfig config = patient_config();
    config.max_buffer = 1'024;  // so its watches' paths may have 512 bytes, and its directories' a quarter of that
    const InterProcessMutex mine{simulation.client("a", config), lock_directory};
    const Session session = co_await simulation.client("a").async_session();
    std::vector<Watch> watches;
    for (error_code full; !full;) {
      const std::string path = "/a-node-that-does-not-exist-" + std::to_string(watches.size());
      auto [error, stat, watch] = co_await session.async_exists_and_watch(path, as_tuple);
      if (error) CHECK(error == Error::too_many_watches);
      full = error;
      if (!error) watches.push_back(std::move(watch));
    }
    CHECK(watches.size() > 10);
    for (int i = 0; i < 4; ++i) co_await cycle(*this, mine);
    CHECK_FALSE(is_watched());
    for (int i = 0; i < 3; ++i) {
      const auto outcome = co_await cycle(*this, mine);
      CHECK(outcome == "create get_children remove");
    }
    watches.clear();
    co_await pause(61s);  // it is not tried again at once
    for (int i = 0; i < 3; ++i) co_await cycle(*this, mine);
    CHECK(is_watched());
    const auto outcome = co_await cycle(*this, mine);
    CHECK(outcome == "create remove");
  });
}

TEST_CASE_METHOD(RepeatedLock, "of many locks those used least recently list the queue again") {
  play([&]() -> asio::awaitable<void> {
    ClientConfig config = patient_config();
    config.max_buffer = 1'024;
    const Client& client = simulation.client("a", config);
    std::vector<InterProcessMutex> locks;  // the paths have 40 bytes: there is room for three
    for (int i = 0; i < 5; ++i)
      locks.emplace_back(client, "/locks/a-name-that-needs-some-bytes/order" + std::to_string(i));
    for (const InterProcessMutex& each : locks)
      for (int i = 0; i < 4; ++i) {
        co_await cycle(*this, each);
        co_await pause(1ms);
      }
    const auto watches = simulation.ensemble().watches();
    CHECK(std::ranges::count_if(watches, [](const auto& each) { return each.path.starts_with("/locks"); }) == 3);
    for (const bool is_recent : {true, false}) {
      const auto outcome = co_await cycle(*this, is_recent ? locks.back() : locks.front());
      CHECK((outcome == "create remove") == is_recent);
    }
  });
}

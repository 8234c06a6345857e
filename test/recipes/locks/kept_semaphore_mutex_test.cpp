// A semaphore mutex that its client keeps between two uses.
#include "kept_lock.hpp"

#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

using namespace zklock;
using namespace zklock::test;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string leases_directory = lock_directory + "/leases";

struct KeptPermits : RepeatedLock {
  using Mutex = InterProcessSemaphoreMutex;

  Mutex kept(const std::string& client, Keeping keeping = Keeping::silent, int handoffs = 0) {
    return {simulation.client(client, patient_config()),
            lock_directory,
            {.keep = 2s, .keeping = keeping, .local_hand_overs = handoffs}};
  }
  Mutex plain(const std::string& client) { return {simulation.client(client, patient_config()), lock_directory}; }
  [[nodiscard]] std::vector<std::string> leases() const {
    std::vector<std::string> paths = children();
    std::erase_if(paths, [](const std::string& path) { return !path.starts_with(leases_directory + "/"); });
    return paths;
  }
  asio::awaitable<std::string> cycle(const Mutex& mutex) {
    sent();
    auto [error, lease] = co_await mutex.async_acquire(as_tuple);
    CHECK_FALSE(error);
    const auto [failed] = co_await lease.async_release(as_tuple);
    CHECK_FALSE(failed);
    co_return sent();
  }
  asio::awaitable<error_code> try_once(const Mutex& mutex) {
    auto [error, lease] = co_await mutex.async_acquire(0s, as_tuple);
    co_return error;
  }
  asio::awaitable<void> warm_up(const Mutex& mutex) {
    for (int i = 0; i < 3; ++i) co_await cycle(mutex);
    CHECK(leases().size() == 1);
  }
  asio::awaitable<void> begin(const Mutex& mutex, Lease& lease) {
    mutex.async_acquire(
        asio::bind_executor(simulation.executor(), [&lease](error_code, Lease got) { lease = std::move(got); }));
    co_await pause(10ms);
  }
  asio::awaitable<void> release(Lease& lease) {
    lease = Lease{};
    co_await pause(10ms);
  }
};

}  // namespace

TEST_CASE_METHOD(KeptPermits, "a client that keeps a semaphore mutex silently asks the server for nothing") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    co_await warm_up(mine);
    for (int i = 0; i < 5; ++i) {
      const auto requests_of_cycle = co_await cycle(mine);
      CHECK(requests_of_cycle.empty());
    }
    const auto again = co_await try_once(mine);
    CHECK(again == error_code{});
    CHECK(sent().empty());
    CHECK(leases().size() == 1);
  });
}

TEST_CASE_METHOD(KeptPermits, "a client that confirms a kept semaphore mutex sends one write for each grant") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a", Keeping::confirmed);
    co_await warm_up(mine);
    std::int64_t last = 0;
    for (int i = 0; i < 4; ++i) {
      sent();
      Lease lease = co_await mine.async_acquire();
      CHECK(sent() == "set_data");
      CHECK(lease.fencing_token() > last);
      last = lease.fencing_token();
      const auto [error, results] = co_await simulation.client("a").async_commit(lease.guard(), as_tuple);
      CHECK_FALSE(error);
    }
  });
}

TEST_CASE_METHOD(KeptPermits, "a semaphore mutex without the setting is not kept") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = plain("a");
    for (int i = 0; i < 5; ++i) co_await cycle(mine);
    CHECK(leases().empty());
    for (const FakeWatch& each : simulation.ensemble().watches()) CHECK(each.path != leases_directory);
  });
}

TEST_CASE_METHOD(KeptPermits, "a kept semaphore mutex is given up as soon as another client asks for it") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    co_await warm_up(mine);
    if (GENERATE(true, false)) {
      Lease next;
      co_await begin(plain("b"), next);
      CHECK(next.is_held());
    } else {  // any node among the leases asks
      const InterProcessSemaphore semaphore{simulation.client("b", patient_config()), lock_directory, 1};
      const auto [error, permit] = co_await semaphore.async_acquire(1s, as_tuple);
      CHECK_FALSE(error);
      CHECK(leases().size() == 1);
    }
    co_await pause(10ms);
    CHECK(leases().empty());
    for (const std::size_t left : {0U, 0U, 1U}) {
      co_await cycle(mine);
      CHECK(leases().size() == left);
    }
  });
}

TEST_CASE_METHOD(KeptPermits, "a held semaphore mutex that another client has asked for is not kept at its release") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    co_await warm_up(mine);
    Lease held;
    Lease next;
    Lease after_next;
    co_await begin(mine, held);
    co_await begin(plain("b"), next);
    CHECK(held.is_held());
    CHECK_FALSE(next.is_held());
    co_await begin(mine, after_next);
    co_await release(held);
    CHECK(next.is_held());
    CHECK_FALSE(after_next.is_held());
    co_await release(next);
    CHECK(after_next.is_held());
  });
}

TEST_CASE_METHOD(KeptPermits, "local waiters of a kept semaphore mutex have no nodes, and are served in order") {
  const Keeping keeping = GENERATE(Keeping::confirmed, Keeping::silent);
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a", keeping);
    co_await warm_up(mine);
    Lease first;
    Lease second;
    Lease third;
    for (Lease* each : {&first, &second, &third}) co_await begin(mine, *each);
    CHECK(leases().size() == 1);
    const auto busy = co_await try_once(mine);
    CHECK(busy == Error::timed_out);
    co_await release(first);
    CHECK(second.is_held());
    CHECK_FALSE(third.is_held());
    co_await release(second);
    CHECK(third.is_held());
    CHECK(leases().size() == 1);
  });
}

TEST_CASE_METHOD(KeptPermits, "waiters of a client that keeps a semaphore mutex go ahead as often as they may") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a", Keeping::silent, 1);
    co_await warm_up(mine);
    Lease first;
    Lease second;
    Lease third;
    Lease theirs;
    for (Lease* each : {&first, &second, &third}) co_await begin(mine, *each);
    co_await begin(plain("b"), theirs);
    co_await release(first);
    CHECK(second.is_held());
    co_await release(second);
    CHECK(theirs.is_held());
    CHECK_FALSE(third.is_held());
    co_await release(theirs);
    CHECK(third.is_held());
  });
}

TEST_CASE_METHOD(KeptPermits, "a semaphore mutex is not kept over a lost link, nor for longer than it may") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    co_await warm_up(mine);
    simulation.ensemble().cut_all();
    co_await pause(500ms);
    CHECK(leases().empty());
    co_await warm_up(mine);
    co_await pause(2100ms);
    CHECK(leases().empty());
    co_await warm_up(mine);
  });
}

TEST_CASE_METHOD(KeptPermits, "a kept semaphore mutex whose node is revoked, or deleted, is made anew") {
  const bool is_revoked = GENERATE(true, false);
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    co_await warm_up(mine);
    const std::string node = leases().front();
    if (is_revoked) {
      simulation.ensemble().set_data(node, std::string{revocation_request});
      co_await pause(1100ms);
    } else {
      simulation.delete_as_operator(node);
      co_await pause(10ms);
    }
    const Lease lease = co_await mine.async_acquire();
    CHECK(lease.node_path() != node);
    CHECK(leases().size() == 1);
  });
}

TEST_CASE_METHOD(KeptPermits, "a permit of the same client has it give the kept semaphore mutex up first") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    co_await warm_up(mine);
    const auto requests_of_cycle = co_await cycle(plain("a"));
    CHECK(requests_of_cycle.starts_with("remove create"));
    CHECK(leases().empty());
  });
}

TEST_CASE_METHOD(KeptPermits, "a poller with tries gets a semaphore mutex that another client uses all the time") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    const auto theirs = plain("b");
    bool is_over = false;
    asio::co_spawn(
        simulation.executor(),
        [](const InterProcessSemaphoreMutex& lock, const bool& over) -> asio::awaitable<void> {
          while (!over) {
            const Lease lease = co_await lock.async_acquire();
            co_await pause(1ms);
          }
        }(mine, is_over),
        asio::detached);
    co_await pause(20ms);
    for (int round = 0; round < 10; ++round) {
      int tries = 0;
      for (error_code error = make_error_code(Error::timed_out); error && tries < 30; ++tries) {
        error = co_await try_once(theirs);
        co_await pause(1ms);
      }
      CHECK(tries < 10);
    }
    is_over = true;
    co_await pause(10ms);
  });
}

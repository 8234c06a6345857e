// A semaphore mutex that its client keeps between two uses.
#include "kept_lock.hpp"

#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>
#include <zklock/recipes/locks/revocation.hpp>

using namespace zklock;
using namespace zklock::test;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

struct KeptPermits : KeptFixture {
  using Mutex = InterProcessSemaphoreMutex;

  KeptPermits() { queue += "/leases"; }

  Mutex kept(const std::string& client, Keeping keeping = Keeping::silent, int handoffs = 0) {
    return KeptFixture::kept<Mutex>(client, keeping, handoffs);
  }
  Mutex plain(const std::string& client) { return {simulation.client(client, patient_config()), lock_directory}; }
  /// The acquires that have a node in the wait queue, where the first one makes its permit.
  [[nodiscard]] std::size_t waiting() const {
    return static_cast<std::size_t>(std::ranges::count_if(simulation.ensemble().nodes(), [](const FakeNode& each) {
      return each.path.starts_with(lock_directory + "/locks/");
    }));
  }
};

}  // namespace

TEST_CASE_METHOD(KeptPermits, "a client that keeps a semaphore mutex silently asks the server for nothing") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    co_await warm_up(mine);
    co_await expect_no_requests(mine);
  });
}

TEST_CASE_METHOD(KeptPermits, "a client that confirms a kept semaphore mutex sends one write for each grant") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a", Keeping::confirmed);
    co_await expect_token_by_each_write(mine, "a");
  });
}

TEST_CASE_METHOD(KeptPermits, "a semaphore mutex without the setting is not kept") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = plain("a");
    co_await expect_not_kept(mine);
    CHECK_FALSE(is_watched());
  });
}

TEST_CASE_METHOD(KeptPermits, "a kept semaphore mutex is given up as soon as another client asks for it, each time") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    co_await warm_up(mine);
    const bool by_mutex = GENERATE(true, false);
    for (int i = 0; i < 4; ++i) {
      if (by_mutex) {
        Lease next;
        co_await begin(plain("b"), next);
        CHECK(next.is_held());
      } else {  // any node among the leases asks
        const InterProcessSemaphore semaphore{simulation.client("b", patient_config()), lock_directory, 1};
        const auto [error, permit] = co_await semaphore.async_acquire(1s, as_tuple);
        CHECK_FALSE(error);
        CHECK(nodes() == 1);
      }
      co_await pause(10ms);
      CHECK(nodes() == 0);
      co_await expect_kept_after(mine, 2);
    }
  });
}

TEST_CASE_METHOD(KeptPermits, "a held semaphore mutex that another client has asked for is not kept at its release") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    const auto theirs = plain("b");
    co_await expect_given_up_at_release(mine, theirs, 2);
  });
}

TEST_CASE_METHOD(KeptPermits, "local waiters of a kept semaphore mutex have no nodes, and are served in order") {
  const Keeping keeping = GENERATE(Keeping::confirmed, Keeping::silent);
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a", keeping);
    co_await expect_waiters_in_order(mine);
  });
}

TEST_CASE_METHOD(KeptPermits, "two users of one client that want a semaphore mutex all the time come to keep it") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    Lease one;
    Lease other;
    co_await begin(mine, one);
    co_await begin(mine, other);
    for (int i = 0; i < 3; ++i)
      for (Lease* each : {&one, &other}) {
        co_await release(*each);
        co_await begin(mine, *each);
      }
    sent();
    co_await release(one);
    CHECK(other.is_held());
    CHECK(sent().empty());
  });
}

TEST_CASE_METHOD(KeptPermits, "local waiters of a semaphore mutex make nodes once another client has come between") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    Lease holder;
    Lease next;
    Lease third;
    Lease last;
    for (Lease* each : {&holder, &next, &third, &last}) co_await begin(mine, *each);
    CHECK(waiting() == 1);  // the others wait for its end
    plain("b").async_acquire(asio::bind_executor(simulation.executor(), [](error_code, const Lease&) {}));
    co_await a_moment();
    CHECK(waiting() == 2);
    co_await release(holder);
    co_await release(next);
    CHECK(third.is_held());  // behind the other client's, which did not keep it
    CHECK(waiting() == 1);
    co_await release(third);
    CHECK(last.is_held());
    co_await release(last);
  });
}

TEST_CASE_METHOD(KeptPermits, "local waiters of a semaphore mutex that another client holds make nodes") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    Lease theirs;
    co_await begin(plain("b"), theirs);
    for (int i = 0; i < 2; ++i) {  // so that this client's numbers follow each other
      const auto error = co_await try_once(mine);
      CHECK(error == Error::timed_out);
    }
    Lease first;
    Lease second;
    co_await begin(mine, first);
    co_await begin(mine, second);
    CHECK(waiting() == 2);
    for (Lease* each : {&theirs, &first, &second}) {
      CHECK(each->is_held());
      co_await release(*each);
    }
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
    co_await expect_given_up_without_link(mine);
    co_await expect_given_up_unless_used(mine);
  });
}

TEST_CASE_METHOD(KeptPermits, "a kept semaphore mutex whose node is revoked, or deleted, is made anew") {
  const bool is_revoked = GENERATE(true, false);
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    co_await warm_up(mine);
    const std::string node = children().front();
    if (is_revoked) {
      simulation.ensemble().set_data(node, std::string{revocation_request});
      co_await pause(1100ms);
    } else {
      simulation.delete_as_operator(node);
      co_await pause(10ms);
    }
    const Lease lease = co_await mine.async_acquire();
    CHECK(lease.node_path() != node);
    CHECK(nodes() == 1);
  });
}

TEST_CASE_METHOD(KeptPermits, "a permit of the same client has it give the kept semaphore mutex up first") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    co_await warm_up(mine);
    co_await expect_given_up_first(plain("a"));
  });
}

TEST_CASE_METHOD(KeptPermits, "a poller with tries gets a semaphore mutex that another client uses all the time") {
  play([&]() -> asio::awaitable<void> {
    const auto mine = kept("a");
    const auto theirs = plain("b");
    co_await expect_poller_served(mine, theirs);
  });
}

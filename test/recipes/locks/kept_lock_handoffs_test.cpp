// A client that keeps a lock lets some of its own waiters in, though another client waits.
#include "kept_lock.hpp"

#include <zklock/recipes/locks/revocation.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <utility>

using namespace zklock;
using namespace zklock::test;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

struct Handoffs : KeptFixture {
  std::array<Lease, 6> leases{};
  Lease theirs{};

  InterProcessMutex kept_with(int handoffs, Keeping keeping = Keeping::silent) { return kept("a", keeping, handoffs); }
  void play(std::function<asio::awaitable<void>()> body) {
    KeptFixture::play([this, body = std::move(body)]() -> asio::awaitable<void> {
      co_await body();
      for (int i = 0; i < 8; ++i) {  // those that still wait get the lock in turn
        leases = {};
        theirs = {};
        co_await pause(10ms);
      }
    });
  }
  /// The first lease holds the lock, as many wait behind it as `waiting` says, and then another client asks.
  asio::awaitable<void> begin_all(const InterProcessMutex& mine, std::size_t waiting) {
    const InterProcessMutex others = mutex("b");
    co_await warm_up(mine);
    for (std::size_t i = 0; i <= waiting; ++i) co_await begin(mine, leases.at(i));
    CHECK(leases[0].is_held());
    CHECK(nodes() == 1);
    co_await begin(others, theirs);
    CHECK_FALSE(theirs.is_held());
  }
};

}  // namespace

TEST_CASE_METHOD(Handoffs, "waiters of a client that keeps a lock go ahead of another client as often as it may") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept_with(2);
    co_await begin_all(mine, 3);
    CHECK(nodes() == 3);  // the fourth has made its own
    co_await begin(mine, leases[4]);
    CHECK(nodes() == 4);  // nobody that comes now waits without one
    sent();
    for (std::size_t next : {1U, 2U}) {
      co_await release(leases.at(next - 1));
      CHECK(leases.at(next).is_held());
      CHECK(sent() == "get_data");
    }
    co_await release(leases[2]);
    CHECK(theirs.is_held());
    CHECK_FALSE(leases[3].is_held());
    co_await release(theirs);
    CHECK(leases[3].is_held());
    co_await release(leases[3]);
    CHECK(leases[4].is_held());
    co_await release(leases[4]);
    CHECK(nodes() == 0);
  });
}

TEST_CASE_METHOD(Handoffs, "a client that comes after another one has asked is not let in without a node") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept_with(5);
    co_await begin_all(mine, 1);
    co_await begin(mine, leases[2]);
    CHECK(nodes() == 3);
    co_await release(leases[0]);
    CHECK(leases[1].is_held());
    co_await begin(mine, leases[3]);
    CHECK(nodes() == 4);
    co_await release(leases[1]);
    CHECK(theirs.is_held());
    CHECK_FALSE(leases[2].is_held());
    CHECK_FALSE(leases[3].is_held());
  });
}

TEST_CASE_METHOD(Handoffs, "a waiter that gives up before it is let in leaves the lock to another client") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept_with(1);
    const InterProcessMutex others = mutex("b");
    co_await warm_up(mine);
    co_await begin(mine, leases[0]);
    asio::cancellation_signal cancel;
    error_code outcome;
    mine.async_acquire(asio::bind_cancellation_slot(
        cancel.slot(),
        asio::bind_executor(simulation.executor(), [&](error_code error, const Lease&) { outcome = error; })));
    co_await pause(10ms);
    co_await begin(others, theirs);
    cancel.emit(asio::cancellation_type::terminal);  // carried out when the release has let it in
    co_await release(leases[0]);
    CHECK(outcome == asio::error::operation_aborted);
    CHECK(theirs.is_held());
  });
}

TEST_CASE_METHOD(Handoffs, "nobody goes ahead of another client over a lost link") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept_with(5);
    co_await begin_all(mine, 2);
    CHECK(nodes() == 2);
    simulation.ensemble().cut_all();
    co_await pause(500ms);
    CHECK(leases[0].is_held());
    CHECK(nodes() == 4);
    co_await release(leases[0]);
    CHECK(theirs.is_held());
    CHECK_FALSE(leases[1].is_held());
  });
}

TEST_CASE_METHOD(Handoffs, "a link that is lost as a waiter is let in ends the keeping") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept_with(5);
    co_await begin_all(mine, 2);
    fault = [&](const FakeCall& call) {
      const bool now = call.applied && call.operation == "get_data";
      if (now) fault = nullptr;
      return now ? FakeFault::cut : FakeFault::none;
    };
    co_await release(leases[0]);
    co_await pause(500ms);
    CHECK(theirs.is_held());
    CHECK_FALSE(leases[1].is_held());
    CHECK_FALSE(leases[2].is_held());
    CHECK(nodes() == 3);
  });
}

TEST_CASE_METHOD(Handoffs, "nobody goes ahead of another client by a node that is to be given up, or is gone") {
  const bool is_revoked = GENERATE(true, false);
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept_with(5);
    co_await begin_all(mine, 2);
    const std::string node = leases[0].node_path();
    if (is_revoked)
      simulation.ensemble().set_data(node, std::string{revocation_request});
    else
      simulation.delete_as_operator(node);
    co_await release(leases[0]);
    CHECK(theirs.is_held());
    CHECK_FALSE(leases[1].is_held());
    CHECK(nodes() == 3);
    co_await release(theirs);
    CHECK(leases[1].is_held());
  });
}

TEST_CASE_METHOD(Handoffs, "nobody goes ahead of another client where grants are confirmed") {
  play([&]() -> asio::awaitable<void> {
    const InterProcessMutex mine = kept_with(5, Keeping::confirmed);
    co_await begin_all(mine, 2);
    CHECK(nodes() == 4);
    co_await release(leases[0]);
    CHECK(theirs.is_held());
  });
}

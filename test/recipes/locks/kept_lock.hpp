// A client that keeps a lock between two uses, and the requests that it sends; and what holds for each kind of lock.
#pragma once

#include "repeated_lock.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zklock::test {

struct KeptFixture : RepeatedLock {
  using RepeatedLock::RepeatedLock;

  template <class Lock = InterProcessMutex>
  Lock kept(const std::string& client, Keeping keeping = Keeping::silent, int handoffs = 0) {
    return {simulation.client(client, patient_config()),
            lock_directory,
            {.keep = std::chrono::seconds{2}, .keeping = keeping, .local_hand_overs = handoffs}};
  }
  /// Cycles until the lock is kept.
  template <class Mutex>
  asio::awaitable<void> warm_up(const Mutex& mutex) {
    for (int i = 0; i < 3; ++i) co_await cycle(*this, mutex);
    CHECK(nodes() == 1);
  }
  /// Begins an acquire, and lets it go on for a moment.
  template <class Mutex>
  asio::awaitable<void> begin(const Mutex& mutex, Lease& lease) {
    mutex.async_acquire(
        asio::bind_executor(simulation.executor(), [&lease](error_code, Lease got) { lease = std::move(got); }));
    co_await a_moment();
  }
  asio::awaitable<void> release(Lease& lease) {
    lease = Lease{};
    co_await a_moment();
  }
  static asio::awaitable<void> a_moment() { return pause(std::chrono::milliseconds{10}); }
  [[nodiscard]] bool watches_children() const {
    return std::ranges::any_of(simulation.ensemble().watches(), [this](const testing::FakeWatch& each) {
      return each.kind == WatchKind::children && each.path == queue;
    });
  }

  // ---- what holds for each kind of lock; `mine` is kept, `theirs` is another client's

  template <class Mutex>
  asio::awaitable<void> expect_no_requests(const Mutex& mine) {
    sent();
    for (int i = 0; i < 5; ++i) {
      const auto requests_of_cycle = co_await cycle(*this, mine);
      CHECK(requests_of_cycle.empty());
    }
    const auto again = co_await try_once(mine);
    CHECK(again == error_code{});
    CHECK(sent().empty());
    CHECK(nodes() == 1);
  }
  template <class Mutex>
  asio::awaitable<void> expect_not_kept(const Mutex& mine) {
    for (int i = 0; i < 5; ++i) co_await cycle(*this, mine);
    CHECK(nodes() == 0);
    CHECK_FALSE(watches_children());
  }
  /// Only after so many acquires in a row with nobody between is the lock kept again.
  template <class Mutex>
  asio::awaitable<void> expect_kept_after(const Mutex& mine, int acquires) {
    for (int i = 0; i <= acquires; ++i) {
      co_await cycle(*this, mine);
      CHECK(nodes() == (i == acquires ? 1U : 0U));
    }
  }
  /// The use of another lock object has the client give the kept lock up first.
  template <class Mutex>
  asio::awaitable<void> expect_given_up_first(const Mutex& other) {
    sent();
    const auto requests_of_cycle = co_await cycle(*this, other);
    CHECK(requests_of_cycle.starts_with("remove create"));
    CHECK(nodes() == 0);
  }
  template <class Mutex>
  asio::awaitable<void> expect_token_by_each_write(const Mutex& mine, const std::string& client) {
    co_await warm_up(mine);
    std::int64_t last = 0;
    for (int i = 0; i < 4; ++i) {
      sent();
      Lease lease = co_await mine.async_acquire();
      CHECK(sent() == "set_data");
      CHECK(lease.fencing_token() > last);
      {
        const auto [error, results] = co_await simulation.client(client).async_commit(lease.guard(), as_tuple);
        CHECK_FALSE(error);
      }
      Transaction guard = lease.guard();
      co_await lease.async_release();
      const Lease next = co_await mine.async_acquire();
      const auto [late, results] = co_await simulation.client(client).async_commit(std::move(guard), as_tuple);
      CHECK(late == Error::bad_version);
      last = next.fencing_token();
    }
  }
  template <class Mutex>
  asio::awaitable<void> expect_waiters_in_order(const Mutex& mine) {
    co_await warm_up(mine);
    Lease first;
    Lease second;
    Lease third;
    for (Lease* each : {&first, &second, &third}) co_await begin(mine, *each);
    CHECK(first.is_held());
    CHECK(nodes() == 1);
    const auto busy = co_await try_once(mine);
    CHECK(busy == Error::timed_out);
    const auto [late, none] = co_await mine.async_acquire(std::chrono::milliseconds{50}, as_tuple);
    CHECK(late == Error::timed_out);
    co_await release(first);
    CHECK(second.is_held());
    CHECK_FALSE(third.is_held());
    co_await release(second);
    CHECK(third.is_held());
    CHECK(nodes() == 1);
  }
  /// Since the other client has asked. Nobody local enters any more, but makes a node.
  template <class Mutex>
  asio::awaitable<void> expect_given_up_at_release(const Mutex& mine, const Mutex& theirs, std::size_t nodes_then) {
    co_await warm_up(mine);
    Lease held;
    Lease next;
    Lease after_next;
    co_await begin(mine, held);
    co_await begin(theirs, next);
    CHECK(held.is_held());
    CHECK_FALSE(next.is_held());
    co_await begin(mine, after_next);
    CHECK(nodes() == nodes_then);
    co_await release(held);
    CHECK(next.is_held());
    CHECK_FALSE(after_next.is_held());
    co_await release(next);
    CHECK(after_next.is_held());
  }
  template <class Mutex>
  asio::awaitable<void> expect_given_up_unless_used(const Mutex& mine) {
    co_await warm_up(mine);
    co_await pause(std::chrono::milliseconds{900});
    CHECK(nodes() == 1);
    co_await pause(std::chrono::milliseconds{1'200});
    CHECK(nodes() == 0);
    CHECK_FALSE(watches_children());
    co_await warm_up(mine);
  }
  template <class Mutex>
  asio::awaitable<void> expect_given_up_without_link(const Mutex& mine) {
    co_await warm_up(mine);
    simulation.ensemble().cut_all();
    co_await pause(std::chrono::milliseconds{500});
    CHECK(nodes() == 0);
    co_await warm_up(mine);
  }
  template <class Mutex>
  asio::awaitable<void> expect_looks(const Mutex& mine) {
    co_await warm_up(mine);
    int looks = 0;
    for (int i = 0; i < 100; ++i) {
      const std::string these = co_await cycle(*this, mine);
      if (these == "get_children get_data") ++looks;
      co_await pause(std::chrono::milliseconds{100});
    }
    CHECK(looks > 5);
    CHECK(looks < 15);
    CHECK(nodes() == 1);
  }
  template <class Mutex>
  asio::awaitable<void> expect_held_for_long(const Mutex& mine, const InterProcessMutex& theirs) {
    co_await warm_up(mine);
    const Lease held = co_await mine.async_acquire();
    co_await pause(std::chrono::seconds{9});
    CHECK(held.is_held());
    CHECK(nodes() == 1);
    const auto busy = co_await try_once(theirs);
    CHECK(busy == Error::timed_out);
  }
  template <class Mutex>
  asio::awaitable<void> expect_poller_served(const Mutex& mine, const Mutex& theirs) {
    bool is_over = false;
    asio::co_spawn(simulation.executor(), use_until(mine, is_over), asio::detached);
    co_await pause(std::chrono::milliseconds{20});
    for (int round = 0; round < 10; ++round) {
      int tries = 0;
      for (error_code error = make_error_code(Error::timed_out); error && tries < 30; ++tries) {
        error = co_await try_once(theirs);
        co_await pause(std::chrono::milliseconds{1});
      }
      CHECK(tries < 10);
    }
    is_over = true;
    co_await a_moment();
  }
  template <class Mutex>
  static asio::awaitable<void> use_until(const Mutex& mutex, const bool& is_over) {
    while (!is_over) {
      const Lease lease = co_await mutex.async_acquire();
      co_await pause(std::chrono::milliseconds{1});
    }
  }
};

/// With servers that keep events from clients that may not read the directory.
template <class Fixture>
struct HiddenEvents : Fixture {
  HiddenEvents() : Fixture{{.hides_events = true}} {}

  asio::awaitable<void> let_read(bool may) {
    const auto others = Permission::create | Permission::remove | Permission::admin;
    const Acl acl{{may ? others | Permission::read : others, "world", "anyone"}};
    const Session session = this->simulation.client("a").session();
    const auto [failed] = co_await session.async_set_acl(lock_directory, acl, any_version, as_tuple);
    CHECK_FALSE(failed);
  }
  /// When another client's node has come unseen; its name begins so.
  asio::awaitable<void> expect_given_up_at_a_look(const InterProcessMutex& mine, std::string_view name) {
    const Session other = this->simulation.client("b", patient_config()).session();
    co_await this->warm_up(mine);
    co_await let_read(false);
    const std::string path = lock_directory + "/_c_00000000-0000-4000-8000-000000000000-" + std::string{name};
    const auto [error, node] = co_await other.async_create(path, "", CreateMode::ephemeral_sequential, as_tuple);
    CHECK_FALSE(error);
    co_await let_read(true);
    CHECK(this->nodes() == 2);
    for (int i = 0; i < 20 && this->nodes() == 2; ++i) {
      static_cast<void>(co_await try_once(mine));
      co_await pause(std::chrono::milliseconds{100});
    }
    CHECK(this->nodes() == 1);
    co_await other.async_remove(node.path, as_tuple);
  }
};

}  // namespace zklock::test

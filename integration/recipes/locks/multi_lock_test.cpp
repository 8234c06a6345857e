#include "support/catch.hpp"
#include "support/lock_fixture.hpp"

#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <mutex>
#include <thread>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LockFixture {
  Client other = make_client(server);
  std::string left = path + "/left";
  std::string right = path + "/right";
  InterProcessMutex left_mutex{client, left};
  InterProcessMutex right_mutex{client, right};
  InterProcessMultiLock both{client, {right, left}};

  [[nodiscard]] bool nothing_left() const {
    return leaves_no_trace(server, session, left) && leaves_no_trace(server, session, right);
  }
  /// A path at which no lock can be made: below an ephemeral node.
  [[nodiscard]] std::string impossible_path() const {
    const std::string ephemeral = left + "-and-more";
    static_cast<void>(outcome_of_operation<CreateResult>([&](auto token) {
      client.async_create(ephemeral, "", CreateOptions{CreateMode::ephemeral}.creating_parents(), std::move(token));
    }));
    return ephemeral + "/lock";
  }
};

template <class... Wait>
std::tuple<error_code, MultiLease> acquire(const InterProcessMultiLock& lock, Wait... wait) {
  return outcome_of_operation<MultiLease>([&](auto token) { lock.async_acquire(wait..., std::move(token)); });
}

template <class AnyLease>
error_code release(AnyLease& lease) {
  return std::get<0>(outcome_of_operation<>([&](auto token) { lease.async_release(std::move(token)); }));
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a multi-lock holds all of its locks, and releases all of them") {
  const InterProcessMultiLock theirs{other, {left, right}};
  auto [error, lease] = acquire(both, 10s);
  REQUIRE_FALSE(error);
  CHECK(lease.is_held());
  REQUIRE(lease.leases().size() == 2);
  CHECK(lease.leases()[0].node_path().starts_with(right + "/"));  // in the order in which they were named
  CHECK(lease.leases()[1].node_path().starts_with(left + "/"));
  CHECK(lease.leases()[1].fencing_token() < lease.leases()[0].fencing_token());  // acquired in the order of the paths
  CHECK(std::get<0>(acquire(theirs, 0s)) == Error::timed_out);
  CHECK(both.is_acquired_in_this_process());
  CHECK_FALSE(both.is_owned_by_current_thread());
  SECTION("awaited") {
    CHECK_FALSE(release(lease));
    CHECK(lease.state() == LeaseState::released);
    CHECK(release(lease) == LockError::not_owner);
  }
  SECTION("at the end of its life") { lease = MultiLease{}; }
  CHECK_FALSE(both.is_acquired_in_this_process());
  CHECK_FALSE(std::get<0>(acquire(theirs, 10s)));
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a multi-lock is a lock of the standard library, and re-entrant as its parts are") {
  left_mutex.acquire();
  {
    const std::unique_lock outer{both};
    const std::unique_lock inner{both, 10s};
    CHECK(inner.owns_lock());
    CHECK(both.is_owned_by_current_thread());
    CHECK(both.fencing_tokens() == std::vector{right_mutex.fencing_token(), left_mutex.fencing_token()});
    std::thread{[&] {
      CHECK_FALSE(both.try_lock());
      CHECK_FALSE(both.is_owned_by_current_thread());
    }}.join();
    CHECK(queue_length(left) == 1);
    CHECK(both.try_lock_until(std::chrono::system_clock::now() + 10s));
    both.release();
  }
  CHECK_FALSE(right_mutex.is_owned_by_current_thread());
  CHECK(left_mutex.is_owned_by_current_thread());
  CHECK_FALSE(both.is_acquired_in_this_process());  // not both parts
  left_mutex.release();
  CHECK(thrown_by([&] { both.release(); }) == LockError::not_owner);
  CHECK(thrown_by([&] { both.unlock(); }) == LockError::not_owner);
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "locks acquired by a multi-lock may be released by its parts, and the other way round") {
  both.acquire();
  left_mutex.release();
  right_mutex.release();
  CHECK(nothing_left());
  right_mutex.acquire();
  left_mutex.acquire();
  both.release();
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a multi-lock goes by the paths at the server, in whatever namespaces its locks are") {
  const std::string parent = left.substr(1, left.rfind('/') - 1);
  const InterProcessMutex first{client, left};
  const InterProcessMutex second{client.using_namespace(parent), "/right"};
  const InterProcessMutex third{client.using_namespace(parent + "/then"), "/a"};
  auto [error, lease] = acquire(InterProcessMultiLock{{third, second, first}}, 10s);
  REQUIRE_FALSE(error);
  const auto leases = lease.leases();
  CHECK(leases[2].fencing_token() < leases[1].fencing_token());
  CHECK(leases[1].fencing_token() < leases[0].fencing_token());
}

TEST_CASE_METHOD(Fixture, "a multi-lock of which one release fails releases the others, and reports the error") {
  SECTION("asynchronous") {
    auto [error, lease] = acquire(both, 10s);
    REQUIRE_FALSE(error);
    delete_node(lease.leases()[GENERATE(0U, 1U)].node_path());
    CHECK(release(lease) == LockError::lock_lost);
  }
  SECTION("blocking") {
    both.acquire();
    const std::string lost = GENERATE(true, false) ? left : right;
    delete_node(lost + "/" + children_of(session, lost).front());
    CHECK(thrown_by([&] { both.release(); }) == LockError::lock_lost);
  }
  SECTION("blocking, and both fail: the first error is given, that of the lock acquired last") {
    both.acquire();
    right_mutex.release();
    delete_node(left + "/" + children_of(session, left).front());
    CHECK(thrown_by([&] { both.release(); }) == LockError::not_owner);
  }
  SECTION("in the background") {
    both.acquire();
    right_mutex.release();
    CHECK(thrown_by([&] { both.unlock(); }) == LockError::not_owner);
  }
  CHECK_FALSE(left_mutex.is_acquired_in_this_process());
  CHECK_FALSE(right_mutex.is_acquired_in_this_process());
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture,
                 "a multi-lock of which one lock cannot be acquired releases the others, and reports the error") {
  InterProcessMultiLock some{client, {impossible_path(), left}};
  SECTION("asynchronous") {
    auto [error, lease] = acquire(some);
    CHECK(error == Error::no_children_for_ephemerals);
    CHECK(lease.leases().empty());
  }
  SECTION("blocking") {
    CHECK(thrown_by([&] { some.acquire(); }) == Error::no_children_for_ephemerals);
    CHECK_FALSE(left_mutex.is_owned_by_current_thread());
  }
  SECTION("blocking, and the thread has one of the others already") {
    left_mutex.acquire();
    CHECK(thrown_by([&] { some.acquire(); }) == Error::no_children_for_ephemerals);
    CHECK(left_mutex.is_owned_by_current_thread());
    left_mutex.release();
    CHECK_FALSE(left_mutex.is_owned_by_current_thread());
  }
  CHECK(queue_length(left) == 0);  // the call has waited for the release
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a multi-lock that is not acquired in time leaves only what its thread had before") {
  const InterProcessMutex theirs{other, right};
  const Lease holder = test::acquire(theirs);
  CHECK(std::get<0>(acquire(both, 0s)) == Error::timed_out);
  CHECK(std::get<0>(acquire(both, 30ms)) == Error::timed_out);
  CHECK_FALSE(both.try_lock());
  CHECK_FALSE(both.try_lock_for(30ms));
  left_mutex.acquire();
  CHECK_FALSE(both.try_lock_for(30ms));
  CHECK(left_mutex.is_owned_by_current_thread());
  left_mutex.release();
  CHECK(leaves_no_trace(server, session, left));
  CHECK(queue_length(right) == 1);
}

TEST_CASE_METHOD(Fixture, "cancelling a multi-lock at any moment completes once, and leaves no trace") {
  const Lease holder = test::acquire(InterProcessMutex{other, right});
  for (int round = 0; round < 120; ++round) {
    asio::cancellation_signal cancel;
    Pending<MultiLease> pending;
    both.async_acquire(asio::bind_cancellation_slot(cancel.slot(), pending.handler()));
    // Lets the attempt come as far as `round` says: the test's requests are answered in order with those of the
    // attempt.
    for (int step = 0; step < round % 8; ++step) static_cast<void>(sync(session));
    const auto types = {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                        asio::cancellation_type::total};
    cancel.emit(types.begin()[round % 3]);
    const auto [error, lease] = pending.get();
    CHECK(error == asio::error::operation_aborted);
    CHECK(lease.leases().empty());
    CHECK(pending.completions() == 1);
  }
  CHECK(eventually([&] { return queue_length(left) == 0 && queue_length(right) == 1; }));
  CHECK(eventually([&] { return server.monitor("zk_watch_count") == 0; }));
}

TEST_CASE_METHOD(Fixture, "multi-locks that name their locks in different orders never deadlock") {
  constexpr int turns = 60;
  const std::string third = left + "-and-right";
  const std::vector<std::vector<std::string>> orders{{left, right}, {right, left}, {third, left}, {right, third}};
  std::map<std::string, std::atomic<int>> inside;
  for (const std::string& lock : {left, right, third}) inside[lock] = 0;
  std::atomic<int> overlaps{0};
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < orders.size(); ++i)
    threads.emplace_back([&, i] {
      InterProcessMultiLock lock{i % 2 == 0 ? client : other, orders[i]};
      for (int turn = 0; turn < turns && failures == 0; ++turn) {
        if (!lock.acquire(20s)) {
          ++failures;
          return;
        }
        for (const std::string& each : orders[i])
          if (inside.at(each)++ != 0) ++overlaps;
        std::this_thread::yield();
        for (const std::string& each : orders[i]) --inside.at(each);
        if (turn % 2 == 0) {
          lock.unlock();
        } else {
          lock.release();
        }
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(overlaps == 0);
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a multi-lock of read and write locks shares its read locks and has its write locks alone") {
  left = fresh_path();  // there are mutexes at the other paths
  right = left + "-right";
  InterProcessReadWriteLock here{client, left};
  InterProcessReadWriteLock there{client, right};
  const InterProcessMultiLock copier{{there.write_lock(), here.read_lock()}};
  const InterProcessMultiLock reader{{here.read_lock(), there.read_lock()}};
  // The reader comes first in the list; acquired first, it would keep its own writer out.
  const InterProcessMultiLock editor{{here.read_lock(), here.write_lock()}};

  auto [error, copying] = acquire(copier, 10s);
  REQUIRE_FALSE(error);
  CHECK(std::get<0>(acquire(reader, 0s)) == Error::timed_out);
  CHECK(std::get<0>(acquire(editor, 0s)) == Error::timed_out);
  Lease sharing = test::acquire(here.read_lock());
  CHECK(sharing.is_held());
  sharing = Lease{};
  CHECK_FALSE(release(copying));

  auto [no_reading, reading] = acquire(reader, 10s);
  REQUIRE_FALSE(no_reading);
  auto [no_more, more] = acquire(reader, 10s);
  CHECK_FALSE(no_more);
  CHECK_FALSE(release(more));
  CHECK_FALSE(release(reading));

  auto [no_editing, editing] = acquire(editor, 10s);
  REQUIRE_FALSE(no_editing);
  CHECK(queue_length(left) == 2);
  CHECK_FALSE(release(editing));
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a lock that is named twice is entered twice") {
  InterProcessMultiLock twice{{left_mutex, right_mutex, left_mutex}};
  auto [error, lease] = acquire(twice, 10s);
  REQUIRE_FALSE(error);
  CHECK(lease.leases().size() == 3);
  CHECK(lease.leases()[0].count() == 2);
  CHECK(queue_length(left) == 1);
  CHECK_FALSE(release(lease));
  CHECK(queue_length(left) == 0);
  twice.acquire();
  twice.release();
  CHECK_FALSE(left_mutex.is_owned_by_current_thread());
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a multi-lock of several clients is lost with any of their sessions") {
  const InterProcessMutex theirs{other, right};
  const InterProcessMultiLock lock{{theirs, left_mutex}};
  auto [error, lease] = acquire(lock, 10s);
  REQUIRE_FALSE(error);
  const SessionCredentials victim = connected_session(other).credentials();
  server.end_session(victim.id, {victim.password.data(), victim.password.size()});
  REQUIRE(eventually([&lease = lease] { return lease.state() == LeaseState::lost; }));
  CHECK(lease.leases()[1].is_held());
  CHECK_FALSE(lock.is_acquired_in_this_process());
  CHECK(release(lease) == LockError::lock_lost);
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a multi-lock whose session ends while it waits is granted when it holds all again") {
  Lease holder = test::acquire(InterProcessMutex{other, right});
  Pending<MultiLease> pending;
  both.async_acquire(pending.handler());
  REQUIRE(eventually([&] { return queue_length(left) == 1 && queue_length(right) == 2; }));
  const SessionCredentials victim = session.credentials();
  server.end_session(victim.id, {victim.password.data(), victim.password.size()});
  session = connected_session(other);
  REQUIRE(eventually([&] { return queue_length(left) == 0 && queue_length(right) == 2; }));  // enqueued again
  CHECK_FALSE(pending.ready(50ms));
  holder = Lease{};
  const auto [error, lease] = pending.get();
  REQUIRE_FALSE(error);
  CHECK(lease.is_held());
  CHECK(queue_length(left) == 1);
  CHECK(queue_length(right) == 1);
}

TEST_CASE_METHOD(Fixture, "an invalid multi-lock is refused") {
  using Locks = std::vector<std::reference_wrapper<const InterProcessMutex>>;
  const InterProcessMutex theirs{other, left};
  const Client knows_more{{.connect_string = server.connect_string() + ",127.0.0.1:1"}};
  const InterProcessMutex by_two_servers{knows_more, left};
  const InterProcessMutex by_namespace{client.using_namespace(left.substr(1, left.rfind('/') - 1)), "/left"};
  CHECK(thrown_by([&] { InterProcessMultiLock{client, std::vector<std::string>{}}; }) == Error::bad_arguments);
  CHECK(thrown_by([] { InterProcessMultiLock{Locks{}}; }) == Error::bad_arguments);
  CHECK(thrown_by([&] { InterProcessMultiLock{client, {left, "relative"}}; }) == LockError::invalid_lock_path);
  // Each lock would wait for the other for ever.
  CHECK(thrown_by([&] { InterProcessMultiLock{{left_mutex, theirs}}; }) == Error::would_deadlock);
  CHECK(thrown_by([&] { InterProcessMultiLock{{left_mutex, by_two_servers}}; }) == Error::would_deadlock);
  CHECK(thrown_by([&] { InterProcessMultiLock{{left_mutex, by_namespace}}; }) == Error::would_deadlock);
  const InterProcessReadWriteLock here{client, right + "-read"};
  const InterProcessReadWriteLock there{other, right + "-read"};
  const Client third = make_client(server);
  const InterProcessMutex mutex_there{third, right + "-read"};
  CHECK(thrown_by([&] { InterProcessMultiLock{{here.read_lock(), there.write_lock()}}; }) == Error::would_deadlock);
  CHECK_FALSE(thrown_by([&] { InterProcessMultiLock{{here.read_lock(), there.read_lock()}}; }));
  CHECK_FALSE(thrown_by([&] {
    InterProcessMultiLock{{here.write_lock(), mutex_there}};
  }));  // mutexes have a wait queue of their own

  InterProcessMultiLock moved{std::move(both)};
  CHECK(thrown_by([&] { both.acquire(); }) == Error::empty_object);  // NOLINT(bugprone-use-after-move)
  CHECK_FALSE(both.is_acquired_in_this_process());
  Pending<> refused;
  asio::post(client.get_executor(),
             [&, done = refused.handler()]() mutable { done(thrown_by([&] { moved.acquire(); })); });
  CHECK(std::get<0>(refused.get()) == Error::blocking_in_handler);
}

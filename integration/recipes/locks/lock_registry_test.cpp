#include "support/catch.hpp"
#include "support/lock_fixture.hpp"
#include "support/repeats.hpp"

#include <zklock/recipe_kit/shared_state.hpp>
#include <zklock/recipes/locks/lock_registry.hpp>
#include <zklock/testing/fake_ensemble.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <thread>
#include <utility>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LockFixture {
  const std::string& base = path;
  LockRegistry registry{client, base};
  Client other = make_client(server);
  LockRegistry registry_of_other{other, base};

  /// Of the lock of that name.
  [[nodiscard]] std::size_t queue_length(const std::string& name) const {
    return LockFixture::queue_length(base + "/" + name);
  }
  /// The number of creates and deletes of nodes in a wait queue.
  [[nodiscard]] int changes(const std::string& name) const {
    const auto [error, stat] = outcome_of_operation<std::optional<Stat>>(
        [&](auto token) { session.async_exists(base + "/" + name, std::move(token)); });
    return !error && stat ? stat->cversion : 0;
  }
};

constexpr LockOptions once{.wait = 0ms};

template <class... Args>
std::tuple<error_code, Lease> lock(const LockRegistry& registry, Args... args) {
  return outcome_of_operation<Lease>([&](auto token) { registry.async_lock(args..., std::move(token)); });
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a registry keeps the write locks that its client uses alone, until another client asks") {
  const auto keep = GENERATE(60'000ms, std::chrono::milliseconds::max());
  const LockRegistry keeping{client, base, {.keep = keep, .keeping = Keeping::silent}};
  const auto is_kept = [&] {
    std::int64_t token = 0;
    for (int i = 0; i < 10; ++i) {
      const Lease lease = keeping.lock("sku-42", Isolation::write);
      if (std::exchange(token, lease.fencing_token()) == lease.fencing_token()) return true;
    }
    return false;
  };
  for (int round = 0; round < 2; ++round) {
    REQUIRE(is_kept());
    CHECK(queue_length("sku-42") == 1);
    const auto [error, theirs] = lock(registry_of_other, "sku-42", Isolation::write, LockOptions{.wait = 10s});
    CHECK_FALSE(error);
  }
}

TEST_CASE_METHOD(Fixture, "a registry's readers share a resource, its writers have it alone") {
  CHECK(registry.base() == base);
  auto [error, reader] = lock(registry, "sku-42", Isolation::read);
  REQUIRE_FALSE(error);
  CHECK(reader.node_path().starts_with(base + "/sku-42/"));
  auto [failed, another] = lock(registry, "sku-42", Isolation::read, LockOptions{.wait = 5s});
  CHECK_FALSE(failed);
  CHECK(std::get<0>(lock(registry, "sku-42", Isolation::write, once)) == Error::timed_out);
  auto [refused, elsewhere] = lock(registry, "sku-43", Isolation::write, once);
  CHECK_FALSE(refused);
  const auto [no_line, line] = outcome_of_operation<std::vector<LockParticipant>>(
      [&](auto token) { registry.async_participants("sku-42", std::move(token)); });
  CHECK_FALSE(no_line);
  CHECK(line.size() == 2);
  reader = Lease{};
  another = Lease{};
  auto [late, writer] = lock(registry, "sku-42", Isolation::write, LockOptions{.wait = 5s});
  REQUIRE_FALSE(late);
  CHECK(std::get<0>(lock(registry, "sku-42", Isolation::read, once)) == Error::timed_out);
  // It is an InterProcessReadWriteLock like any other.
  CHECK(registry.read_write_lock("sku-42").write_lock().is_acquired_in_this_process());
  InterProcessReadWriteLock same{client, base + "/sku-42"};
  CHECK_FALSE(same.try_lock_shared());
  writer = Lease{};
  CHECK(leaves_no_trace(server, session, base + "/sku-42"));
}

TEST_CASE_METHOD(Fixture,
                 "a registry's owner may have a lock several times, and gets an error where it would wait for itself") {
  const Owner owner = Owner::make();
  auto [error, writer] = lock(registry, owner, "a", Isolation::write);
  REQUIRE_FALSE(error);
  auto [failed, again] = lock(registry, owner, "a", Isolation::write, once);
  CHECK_FALSE(failed);
  CHECK(again.node_path() == writer.node_path());
  auto [refused, reader] = lock(registry, owner, "a", Isolation::read, once);
  CHECK_FALSE(refused);
  writer = Lease{};
  again = Lease{};
  CHECK(std::get<0>(lock(registry, owner, "a", Isolation::write,
                         LockOptions{.tries = 5, .interval = 1h, .max_interval = 1h})) == Error::would_deadlock);
  CHECK(reader.is_held());
}

TEST_CASE_METHOD(Fixture, "a pool's thread that serves one request after another locks a name for each of them alone") {
  // The thread serves one request, whose lease another thread takes; then it serves another request.
  std::optional<Lease> first = registry.lock("a", Isolation::write);
  CHECK(first->is_held());
  CHECK_FALSE(registry.try_lock("a", Isolation::write));
  CHECK_FALSE(registry.try_lock("a", Isolation::read));
  CHECK_FALSE(registry.try_lock("a", Isolation::read, {.wait = 10ms, .tries = 3, .interval = 1ms}));
  CHECK(thrown_by([&] { static_cast<void>(registry.lock("a", Isolation::read, once)); }) == Error::timed_out);
  CHECK(first->count() == 1);
  std::thread{[&] { first.reset(); }}.join();
  CHECK(registry.lock("a", Isolation::write, {.wait = 5s}).is_held());
}

TEST_CASE_METHOD(Fixture, "a registry's blocking calls re-enter for a given owner") {
  const Owner owner = Owner::make();
  Lease writer = registry.lock(owner, "a", Isolation::write);
  CHECK(writer.is_held());
  const Lease reader = registry.lock(owner, "a", Isolation::read, {.wait = 5s});
  CHECK(reader.is_held());
  std::thread{[&] {
    CHECK(registry.try_lock(owner, "a", Isolation::write).has_value());
    CHECK_FALSE(registry.try_lock("a", Isolation::read));
    CHECK_FALSE(registry.try_lock(Owner::this_thread(), "a", Isolation::read));
  }}.join();
  writer = Lease{};
  CHECK(thrown_by([&] { static_cast<void>(registry.lock(owner, "a", Isolation::write)); }) == Error::would_deadlock);
  Pending<> refused;
  asio::post(client.get_executor(), [&, done = refused.handler()]() mutable {
    done(thrown_by([&] { static_cast<void>(registry.try_lock("b", Isolation::write)); }));
  });
  CHECK(std::get<0>(refused.get()) == Error::blocking_in_handler);
}

TEST_CASE_METHOD(Fixture, "a registry tries as often as its options say, each time from the end of the wait queue") {
  auto [error, holder] = lock(registry, "a", Isolation::write);
  REQUIRE_FALSE(error);
  const LockOptions thrice{.wait = 200ms, .tries = 3, .interval = 5ms, .max_interval = 20ms};
  const auto start = std::chrono::steady_clock::now();
  CHECK(std::get<0>(lock(registry, "a", Isolation::write, thrice)) == Error::timed_out);
  CHECK(std::chrono::steady_clock::now() - start >= 600ms);
  CHECK(eventually([&] { return queue_length("a") == 1; }));
  CHECK(eventually([&] { return changes("a") == 1 + 3 * 2; }));
  Pending<Lease> patient;
  registry.async_lock("a", Isolation::write,
                      LockOptions{.wait = 100ms, .tries = 1'000, .interval = 5ms, .max_interval = 20ms},
                      patient.handler());
  CHECK(eventually([&] { return changes("a") > 1 + 3 * 2 + 2 * 2; }));
  CHECK_FALSE(patient.ready());
  holder = Lease{};
  const auto [failed, lease] = patient.get();
  CHECK_FALSE(failed);
  CHECK(lease.is_held());
}

TEST_CASE_METHOD(Fixture,
                 "between two tries a registry has no node in the wait queue, and cancelling then leaves no trace") {
  const auto [error, holder] = lock(registry, "a", Isolation::read);
  REQUIRE_FALSE(error);
  asio::cancellation_signal cancel;
  Pending<Lease> writer;
  registry.async_lock("a", Isolation::write, LockOptions{.wait = 100ms, .tries = 2, .interval = 1h, .max_interval = 1h},
                      asio::bind_cancellation_slot(cancel.slot(), writer.handler()));
  REQUIRE(eventually([&] { return queue_length("a") == 2; }));
  REQUIRE(eventually([&] { return queue_length("a") == 1; }));
  CHECK_FALSE(writer.ready(20ms));
  CHECK_FALSE(std::get<0>(lock(registry, "a", Isolation::read, once)));  // no writer is ahead of the reader
  cancel.emit(asio::cancellation_type::terminal);
  CHECK(std::get<0>(writer.get()) == asio::error::operation_aborted);
  CHECK(eventually([&] { return queue_length("a") == 1 && server.monitor("zk_watch_count") == 0; }));
}

TEST_CASE_METHOD(Fixture, "cancelling a registry's lock at any moment completes once, and leaves no trace") {
  const auto [error, holder] = lock(registry, "a", Isolation::write);
  REQUIRE_FALSE(error);
  for (int round = 0; round < 60; ++round) {
    asio::cancellation_signal cancel;
    Pending<Lease> pending;
    registry.async_lock("a", Isolation::read,
                        LockOptions{.wait = 1ms, .tries = 1'000'000, .interval = 1ms, .max_interval = 1ms},
                        asio::bind_cancellation_slot(cancel.slot(), pending.handler()));
    for (int step = 0; step < round % 20; ++step) static_cast<void>(sync(session));
    cancel.emit(asio::cancellation_type::terminal);
    CHECK(std::get<0>(pending.get()) == asio::error::operation_aborted);
    CHECK(pending.completions() == 1);
  }
  CHECK(
      eventually([&] { return queue_length("a") == 1 && server.monitor("zk_watch_count") <= 1; }));  // the directory's
}

TEST_CASE_METHOD(Fixture, "a registry refuses names that are not one component of a path, and invalid options") {
  const auto packets = server.monitor("zk_packets_received");
  const std::string with_nul{"a\0b", 3};
  for (const std::string& name :
       {std::string{}, std::string{"."}, std::string{".."}, std::string{"a/b"}, std::string{"/a"}, std::string{"a/"},
        std::string{"a\nb"}, with_nul, std::string{"\xff"}, std::string(1'000, 'a')}) {
    INFO(name);
    CHECK(std::get<0>(lock(registry, name, Isolation::write)) == LockError::invalid_lock_path);
    CHECK(thrown_by([&] { static_cast<void>(registry.lock(name, Isolation::read)); }) == LockError::invalid_lock_path);
    CHECK(thrown_by([&] { static_cast<void>(registry.read_write_lock(name)); }) == LockError::invalid_lock_path);
    CHECK(std::get<0>(outcome_of_operation<std::vector<LockParticipant>>([&](auto token) {
            registry.async_participants(name, std::move(token));
          })) == LockError::invalid_lock_path);
  }
  for (const LockOptions& options : {LockOptions{.tries = 0}, LockOptions{.tries = -1}, LockOptions{.interval = 0ms},
                                     LockOptions{.interval = 2s, .max_interval = 1s}})
    CHECK(std::get<0>(lock(registry, "a", Isolation::write, options)) == Error::invalid_retry_policy);
  CHECK(thrown_by([&] { LockRegistry{client, "/"}; }) == LockError::invalid_lock_path);
  CHECK(thrown_by([&] { LockRegistry{client, "relative"}; }) == LockError::invalid_lock_path);
  CHECK(server.monitor("zk_packets_received") <= packets + 4);  // pings, and the test's own read of the counter
  for (const std::string name : {"sku 42", "größe", "a:b", "...", "%2F"})
    CHECK_FALSE(std::get<0>(lock(registry, name, Isolation::write, LockOptions{.wait = 5s})));
}

TEST_CASE_METHOD(Fixture, "a registry reports at once an error that no further try can remedy") {
  const LockOptions patient{.wait = 1h, .tries = 100, .interval = 1h, .max_interval = 1h};
  client.close();
  CHECK(std::get<0>(lock(registry, "a", Isolation::write, patient)) == Error::closed);
  LockRegistry moved{std::move(registry)};
  CHECK(registry.base().empty());  // NOLINT(bugprone-use-after-move)
  CHECK(thrown_by([&] { static_cast<void>(registry.lock("a", Isolation::write)); }) == Error::empty_object);
}

TEST_CASE("a registry keeps nothing of thousands of unused names") {
  testing::FakeEnsemble ensemble;
  const Client client = ensemble.make_client();
  const LockRegistry registry{client, "/locks"};
  constexpr int names = repeats(10'000);
  std::atomic<int> next{0};
  std::atomic<int> failures{0};
  std::atomic<int> done{0};
  std::function<void()> begin = [&] {
    const int number = next++;
    if (number >= names) return;
    registry.async_lock("sku-" + std::to_string(number), number % 2 == 0 ? Isolation::read : Isolation::write,
                        [&](error_code error, Lease lease) {
                          if (error || !lease.is_held()) ++failures;
                          lease = Lease{};
                          begin();
                          ++done;
                        });
  };
  for (int i = 0; i < 16; ++i) begin();
  REQUIRE(eventually([&] { return done == names; }, 300s));
  CHECK(failures == 0);
  // Entries of destroyed parts are removed now and then, here at the latest when there are 64 more.
  const auto entries = [&] { return client.shared_state().size(); };
  CHECK(entries() < 300);
  CHECK(eventually([&] {
    const auto nodes = ensemble.nodes();
    return std::ranges::none_of(nodes, [](const auto& node) { return node.stat.ephemeral_owner != 0; });
  }));

  // An entry in use stays. Here a caller's object uses it; a lease may, too.
  std::vector<InterProcessReadWriteLock> kept;
  for (int number = 0; number < 1'000; ++number)
    kept.push_back(registry.read_write_lock("kept-" + std::to_string(number)));
  CHECK(entries() >= 1'000);
  kept.clear();
  for (int number = 0; number < 2'000; ++number)
    static_cast<void>(registry.read_write_lock("then-" + std::to_string(number)));
  CHECK(entries() < 300);
}

TEST_CASE_METHOD(Fixture, "a registry takes a bare duration for how long to wait") {
  auto [error, holder] = lock(registry, "sku-1", Isolation::write, 5s);
  REQUIRE_FALSE(error);
  CHECK(std::get<0>(lock(registry, "sku-1", Isolation::write, 20ms)) == Error::timed_out);
  CHECK(std::get<0>(lock(registry, "sku-1", Isolation::write, 0s)) == Error::timed_out);
  CHECK(std::get<0>(lock(registry, Owner::make(), "sku-1", Isolation::read, 20ms)) == Error::timed_out);
  CHECK_FALSE(registry.try_lock("sku-1", Isolation::read, 20ms));
  CHECK(thrown_by([&] { static_cast<void>(registry.lock("sku-1", Isolation::read, 20ms)); }) == Error::timed_out);
  CHECK(LockOptions::of(1ns).wait == 1ms);
  CHECK(LockOptions::of(std::chrono::hours::max()).wait == std::chrono::milliseconds::max());
  CHECK(eventually([&] { return queue_length("sku-1") == 1; }));  // a try that was cut short dequeues in the background
  holder = Lease{};
  CHECK(registry.lock("sku-1", Isolation::read, 5s).is_held());
  CHECK(registry.try_lock("sku-1", Isolation::write, 5s));
}

TEST_CASE_METHOD(Fixture, "a blocking call lists the holder and the waiters of a lock") {
  const auto [error, holder] = lock(registry, "sku-2", Isolation::write, 5s);
  REQUIRE_FALSE(error);
  Pending<Lease> waiter;
  registry.async_lock("sku-2", Isolation::read, waiter.handler());
  REQUIRE(eventually([&] { return queue_length("sku-2") == 2; }));
  const InterProcessReadWriteLock both = registry.read_write_lock("sku-2");
  for (const auto& everybody : {registry.participants("sku-2"), both.participants()}) {
    REQUIRE(everybody.size() == 2);
    CHECK(everybody[0].node_path == holder.node_path());
    CHECK(everybody[1].kind == LockKind::read);
  }
  REQUIRE(both.write_lock().participants().size() == 1);
  CHECK(both.write_lock().participants()[0].fencing_token == holder.fencing_token());
  CHECK(thrown_by([&] { static_cast<void>(registry.participants("a/b")); }) == LockError::invalid_lock_path);
  Pending<error_code> inside;
  asio::post(client.get_executor(),
             [&, told = inside.handler()] { told({}, thrown_by([&] { static_cast<void>(both.participants()); })); });
  CHECK(std::get<1>(inside.get()) == Error::blocking_in_handler);
}

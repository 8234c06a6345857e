// The behaviour that all locks and elections share. Each test runs for each of them, on the fake ensemble, on one
// server, and on three.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/worlds.hpp"

#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>
#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>
#include <zklock/recipes/locks/lock_registry.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>

#include <concepts>
#include <functional>
#include <memory>

using namespace zklock;
using namespace zklock::test;

namespace {

// ---- the locks

/// A lease of any kind.
struct Held {
  std::shared_ptr<void> lease{};
  std::function<LeaseState()> state{};
  std::function<error_code()> release{};
  std::int64_t token = 0;

  [[nodiscard]] bool is_held() const { return state && state() == LeaseState::held; }
};

const Lease& first_of(const Lease& lease) { return lease; }
const Lease& first_of(const MultiLease& lease) { return lease.leases().front(); }
const Leadership& first_of(const Leadership& leadership) { return leadership; }

template <class Any, class Token>
void start_release(Any& lease, Token token) {
  lease.async_release(std::move(token));
}
template <class Token>
void start_release(Leadership& leadership, Token token) {
  leadership.async_resign(std::move(token));
}

template <class Any>
Held to_held(error_code error, Any lease) {
  if (error) return {};
  const auto shared = std::make_shared<Any>(std::move(lease));
  return {
      .lease = shared,
      .state = [shared] { return first_of(*shared).state(); },
      .release =
          [shared] {
            return std::get<0>(outcome_of_operation<>([&](auto token) { start_release(*shared, std::move(token)); }));
          },
      .token = first_of(*shared).fencing_token()};
}

using OnAcquired = std::function<void(error_code, Held)>;
/// Starts an acquire on a path, with a time-out or without.
using Acquire = std::function<void(const ClientHandle&, const std::string&, std::optional<std::chrono::milliseconds>,
                                   asio::cancellation_slot, OnAcquired)>;

template <class Lock>
void start(const Lock& lock, std::optional<std::chrono::milliseconds> wait, asio::cancellation_slot slot,
           OnAcquired done) {
  auto handler = asio::bind_cancellation_slot(
      slot, [done](error_code error, auto lease) { done(error, to_held(error, std::move(lease))); });
  if (wait) {
    lock.async_acquire(*wait, std::move(handler));
  } else {
    lock.async_acquire(std::move(handler));
  }
}

template <std::derived_from<LeaderElection> Election>
void start(const Election& election, std::optional<std::chrono::milliseconds> wait, asio::cancellation_slot slot,
           OnAcquired done) {
  auto handler = asio::bind_cancellation_slot(
      slot, [done](error_code error, Leadership leadership) { done(error, to_held(error, std::move(leadership))); });
  if (wait) {
    election.async_lead(*wait, std::move(handler));
  } else {
    election.async_lead(std::move(handler));
  }
}

struct Kind {
  std::string name;
  Acquire acquire;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"InterProcessMutex",
       [](auto& client, auto& path, auto wait, auto slot, auto done) {
         start(InterProcessMutex{client, path}, wait, slot, std::move(done));
       }},
      {"the write lock of InterProcessReadWriteLock",
       [](auto& client, auto& path, auto wait, auto slot, auto done) {
         start(InterProcessReadWriteLock{client, path}.write_lock(), wait, slot, std::move(done));
       }},
      {"InterProcessSemaphore of one permit",
       [](auto& client, auto& path, auto wait, auto slot, auto done) {
         start(InterProcessSemaphore{client, path, 1}, wait, slot, std::move(done));
       }},
      {"InterProcessSemaphoreMutex",
       [](auto& client, auto& path, auto wait, auto slot, auto done) {
         start(InterProcessSemaphoreMutex{client, path}, wait, slot, std::move(done));
       }},
      {"InterProcessMultiLock of two",
       [](auto& client, auto& path, auto wait, auto slot, auto done) {
         const std::vector<std::string> paths{path + "/b", path + "/a"};
         start(InterProcessMultiLock{client, paths}, wait, slot, std::move(done));
       }},
      {"LeaderLatch",
       [](auto& client, auto& path, auto wait, auto slot, auto done) {
         start(LeaderLatch{client, path}, wait, slot, std::move(done));
       }},
      {"LeaderSelector",
       [](auto& client, auto& path, auto wait, auto slot, auto done) {
         start(LeaderSelector{client, path}, wait, slot, std::move(done));
       }},
      {"LeaderSelector under Kazoo's names",
       [](auto& client, auto& path, auto wait, auto slot, auto done) {
         start(LeaderSelector{client, path, LockNaming::kazoo}, wait, slot, std::move(done));
       }},
      {"LockRegistry", [](auto& client, auto& path, auto wait, auto slot, auto done) {
         auto handler = asio::bind_cancellation_slot(
             slot, [done](error_code error, Lease lease) { done(error, to_held(error, std::move(lease))); });
         LockOptions options;
         if (wait) options.wait = *wait;
         LockRegistry{client, path}.async_lock("sku-42", Isolation::write, options, std::move(handler));
       }}};
  return all;
}

// ---- the attempts

/// An acquire under way.
class Attempt {
 public:
  Attempt(const Kind& kind, const ClientHandle& client, const std::string& path,
          std::optional<std::chrono::milliseconds> wait = {}) {
    kind.acquire(client, path, wait, cancel_.slot(), pending_.handler());
  }
  [[nodiscard]] bool is_done(std::chrono::milliseconds within = 0ms) { return pending_.ready(within); }
  std::tuple<error_code, Held> outcome() { return pending_.get(); }
  Held held() {
    auto [error, held] = outcome();
    INFO(error.message());
    REQUIRE_FALSE(error);
    return held;
  }
  void cancel() { cancel_.emit(asio::cancellation_type::terminal); }
  [[nodiscard]] int completions() const { return pending_.completions(); }

 private:
  asio::cancellation_signal cancel_;
  Pending<Held> pending_;
};

std::size_t ephemerals_below(const Session& session, const std::string& path) {
  std::size_t count = 0;
  for (const std::string& child : children_of(session, path)) {
    const std::string full = path + "/" + child;
    const auto [error, stat] =
        outcome_of_operation<std::optional<Stat>>([&](auto token) { session.async_exists(full, std::move(token)); });
    if (stat && stat->ephemeral_owner != 0) ++count;
    count += ephemerals_below(session, full);
  }
  return count;
}

/// Runs the body for each kind in each world, with two clients.
template <class Body>
void for_each(Body body) {
  for (const auto& world : worlds()) {
    Client one = world->client();
    Client two = world->client();
    connected_session(one);
    connected_session(two);
    for (const Kind& kind : kinds()) {
      INFO(kind.name << " on " << world->name());
      body(*world, kind, one, two, "/locks" + fresh_path());
    }
  }
}

}  // namespace

TEST_CASE("each lock excludes others, and is granted to the next waiter when it is released") {
  for_each([](World&, const Kind& kind, Client& one, Client& two, const std::string& path) {
    Held first = Attempt{kind, one, path}.held();
    CHECK(first.is_held());
    const std::size_t held = ephemerals_below(connected_session(one), path);
    Attempt second{kind, two, path};
    REQUIRE(eventually([&] { return ephemerals_below(connected_session(one), path) > held; }));
    Attempt third{kind, one, path};
    CHECK_FALSE(second.is_done(50ms));
    CHECK_FALSE(third.is_done());
    CHECK_FALSE(first.release());
    Held next = second.held();
    CHECK(next.is_held());
    CHECK(next.token > first.token);
    CHECK(first.state() == LeaseState::released);
    CHECK(first.release() == LockError::not_owner);
    CHECK_FALSE(third.is_done(50ms));
    next = {};
    CHECK(third.held().token > first.token);
    CHECK(eventually([&] { return ephemerals_below(connected_session(one), path) == 0; }));
  });
}

TEST_CASE("each lock's acquire ends in time and when it is cancelled, and leaves no node") {
  for_each([](World&, const Kind& kind, Client& one, Client& two, const std::string& path) {
    Held holder = Attempt{kind, one, path}.held();
    const std::size_t held = ephemerals_below(connected_session(one), path);
    CHECK(std::get<0>(Attempt{kind, two, path, 0ms}.outcome()) == Error::timed_out);
    CHECK(std::get<0>(Attempt{kind, two, path, 20ms}.outcome()) == Error::timed_out);
    Attempt waiting{kind, two, path};
    CHECK(eventually([&] { return ephemerals_below(connected_session(one), path) > held; }));
    waiting.cancel();
    CHECK(std::get<0>(waiting.outcome()) == asio::error::operation_aborted);
    CHECK(waiting.completions() == 1);
    CHECK(eventually([&] { return ephemerals_below(connected_session(one), path) == held; }));
    CHECK(holder.is_held());
    holder = {};
    CHECK(eventually([&] { return ephemerals_below(connected_session(one), path) == 0; }));
  });
}

TEST_CASE("each lock is lost with its session, and free for other clients") {
  for_each([](World& world, const Kind& kind, Client&, Client& two, const std::string& path) {
    Client victim = world.client();
    const Session session = connected_session(victim);
    Held holder = Attempt{kind, victim, path}.held();
    Attempt next{kind, two, path};
    world.expire(session);
    Held other = next.held();
    CHECK(other.is_held());
    CHECK(eventually([&] { return holder.state() == LeaseState::lost; }));
    CHECK(holder.release() == LockError::lock_lost);
    CHECK(other.is_held());
  });
}

TEST_CASE("each lock is free when its client is closed, and an attempt of that client ends") {
  for_each([](World& world, const Kind& kind, Client&, Client& two, const std::string& path) {
    Client leaving = world.client();
    connected_session(leaving);
    Held holder = Attempt{kind, leaving, path}.held();
    Attempt next{kind, two, path};
    Attempt hopeless{kind, leaving, path};
    leaving.close();
    CHECK(next.held().is_held());
    const error_code error = std::get<0>(hopeless.outcome());
    CHECK((error == Error::closing || error == Error::closed));
    CHECK(hopeless.completions() == 1);
    CHECK(holder.state() == LeaseState::lost);
  });
}

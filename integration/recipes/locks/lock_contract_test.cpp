// The behaviour that all locks share. Each test runs for each lock, on the fake ensemble, on one server, and on three.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>
#include <zklock/recipes/locks/lock_registry.hpp>
#include <zklock/testing/fake_ensemble.hpp>
#include <zklock/testing/test_ensemble.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>

#include <functional>
#include <memory>

using namespace zklock;
using namespace zklock::test;

namespace {

// ---- the ensembles

struct World {
  virtual ~World() = default;
  virtual Client client() = 0;
  virtual void expire(const Session& session) = 0;
  virtual std::string name() const = 0;
};

ClientConfig config() { return {.session_timeout = 6s}; }

struct Fake final : World {
  testing::FakeEnsemble ensemble{};
  Client client() override { return ensemble.make_client(config()); }
  void expire(const Session& session) override { ensemble.expire(session.id()); }
  std::string name() const override { return "the fake ensemble"; }
};

template <class Servers>
void end(Servers& servers, const Session& session) {
  const SessionCredentials known = session.credentials();
  servers.end_session(known.id, {known.password.data(), known.password.size()});
}

struct OneServer final : World {
  testing::TestServer server{};
  Client client() override { return make_client(server); }
  void expire(const Session& session) override { end(server, session); }
  std::string name() const override { return "one server"; }
};

struct ThreeServers final : World {
  testing::TestEnsemble ensemble{};
  Client client() override {
    ClientConfig each = config();
    each.connect_string = ensemble.connect_string();
    return Client{each};
  }
  void expire(const Session& session) override { end(ensemble, session); }
  std::string name() const override { return "three servers"; }
};

std::vector<std::unique_ptr<World>> worlds() {
  std::vector<std::unique_ptr<World>> all;
  all.push_back(std::make_unique<Fake>());
  all.push_back(std::make_unique<OneServer>());
  all.push_back(std::make_unique<ThreeServers>());
  return all;
}

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

template <class Any>
Held to_held(error_code error, Any lease) {
  if (error) return {};
  const auto shared = std::make_shared<Any>(std::move(lease));
  return {
      .lease = shared,
      .state = [shared] { return first_of(*shared).state(); },
      .release =
          [shared] {
            return std::get<0>(outcome_of_operation<>([&](auto token) { shared->async_release(std::move(token)); }));
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

/// Runs the body for each lock in each world, with two clients.
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

// The audit log of real locks, on a real server.
#include "support/audit_lines.hpp"
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/log.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>

#include <boost/asio/use_future.hpp>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

struct Audit {
  explicit Audit(AuditOptions options = {}) {
    options.sinks = {sink};
    options.service_name = "shop";
    log = std::make_shared<AuditLog>(std::move(options));
  }
  Client client(const testing::TestServer& server, std::chrono::milliseconds timeout = session_timeout) const {
    return Client{{.connect_string = server.connect_string(),
                   .session_timeout = timeout,
                   .observers = {log},
                   .slow_wait = 300ms}};
  }
  /// All records, once the clients are gone.
  AuditLines end() {
    log.reset();
    return AuditLines{sink->lines()};
  }

  std::shared_ptr<LineSink> sink = std::make_shared<LineSink>();
  std::shared_ptr<AuditLog> log{};
};

std::int64_t duration_of(const json::object& record) { return record.at("event.duration").as_int64(); }

}  // namespace

TEST_CASE("the audit log tells of a mutex: its grant, its slow waiter, its end") {
  auto& server = shared_server();
  const std::string path = fresh_path();
  Audit audit{{.records_waiting = true, .records_reentered = true}};
  std::int64_t token = 0;
  std::string node;
  std::string session;
  const auto begin = Clock::now();
  {
    const Client client = audit.client(server);
    InterProcessMutex mutex{client, path};
    const Owner owner = Owner::make();
    Lease lease = mutex.async_acquire(owner, asio::use_future).get();
    token = lease.fencing_token();
    node = node_name(lease.node_path());
    session = hexadecimal(client.session().id());
    const Lease again = mutex.async_acquire(owner, asio::use_future).get();
    CHECK_FALSE(mutex.try_lock_for(2s));  // the waiter is slow after 300 ms, and again after 3 s
  }
  const AuditLines lines = audit.end();
  CHECK(lines.story() == "granted reentered waiting slow timed_out released");
  const auto granted = lines.with("event.action", "lock.granted").all().at(0);
  CHECK(granted.at("zklock.lock.path") == json::value(path));
  CHECK(granted.at("zklock.lock.kind") == "mutex");
  CHECK(granted.at("zklock.client.session") == json::value(session));
  CHECK(granted.at("zklock.fencing_token") == token);
  CHECK(granted.at("zklock.node") == json::value(node));
  CHECK(granted.at("service.name") == "shop");
  const auto slow = lines.with("event.action", "lock.slow").all().at(0);
  CHECK(slow.at("zklock.ahead") == 1);
  CHECK(slow.at("zklock.holder.session") == json::value(session));
  CHECK(slow.at("zklock.holder.node") == json::value(node));
  const auto timed_out = lines.with("event.action", "lock.timed_out").all().at(0);
  CHECK(timed_out.at("event.outcome") == "failure");
  // The wait counts from the call, the duration from its beginning on the client's executor.
  CHECK(duration_of(timed_out) >= 400'000'000);
  CHECK(duration_of(timed_out) <= (Clock::now() - begin) / 1ns);
  const auto released = lines.with("event.action", "lock.released").all().at(0);
  CHECK(released.at("zklock.fencing_token") == token);
  CHECK(released.at("zklock.attempt") == granted.at("zklock.attempt"));
  CHECK(duration_of(released) >= 600'000'000);
}

TEST_CASE("the audit log tells of each permit, and of the kind of a reader and a writer") {
  auto& server = shared_server();
  const std::string path = fresh_path();
  Audit audit;
  {
    const Client client = audit.client(server);
    const InterProcessSemaphore semaphore{client, path + "/semaphore", 2};
    { const auto permits = semaphore.async_acquire_many(2, asio::use_future).get(); }
    const InterProcessReadWriteLock lock{client, path + "/document"};
    { const Lease lease = acquire(lock.read_lock()); }
    { const Lease lease = acquire(lock.write_lock()); }
  }
  const AuditLines lines = audit.end();
  CHECK(lines.with("zklock.lock.kind", "read").story() == "granted released");
  CHECK(lines.with("zklock.lock.kind", "write").story() == "granted released");
  const AuditLines permits = lines.with("zklock.lock.kind", "permit");
  CHECK(permits.with("event.action", "lock.granted").all().size() == 2);
  for (const auto& granted : permits.with("event.action", "lock.granted").all()) {
    CHECK(granted.at("zklock.lock.path") == json::value(path + "/semaphore/leases"));
    CHECK(permits.with("zklock.fencing_token", granted.at("zklock.fencing_token")).story() == "granted released");
  }
}

TEST_CASE("the audit log tells of a lost session at once, and why the lock was lost") {
  testing::TestServer server;
  Audit audit;
  const Client client = audit.client(server, 4'000ms);
  const Lease lease = acquire(InterProcessMutex{client, "/lock"});
  SECTION("the servers have ended the session") {
    const SessionCredentials credentials = client.session().credentials();
    server.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
    REQUIRE(eventually([&] { return audit.sink->lines().size() == 2; }));
    const auto lost = AuditLines{audit.sink->lines()}.all().at(1);
    CHECK(lost.at("event.action") == "lock.lost");
    CHECK(lost.at("error.type") == "session_expired");
    CHECK(lost.at("error.code") == -112);
    CHECK(lost.at("log.level") == "warn");
    CHECK(lost.at("zklock.fencing_token") == lease.fencing_token());
  }
  SECTION("the servers are gone") {
    server.kill();
    REQUIRE(eventually([&] { return audit.sink->lines().size() == 2; }));
    const auto lost = AuditLines{audit.sink->lines()}.all().at(1);
    CHECK(lost.at("event.action") == "lock.lost");
    const auto& why = lost.at("error.type");  // what is noticed first
    CHECK((why == "validity_passed" || why == "session_expired"));
  }
}

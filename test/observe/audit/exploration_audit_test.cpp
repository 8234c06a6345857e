// The audit log tells the whole story of each grant, under every fault at every step.
#include "support/audit_lines.hpp"
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>

#include <map>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;
using zklock::test::pause;

namespace {

const std::string directory = "/locks/orders";

/// One grant, or one permit of several.
struct Grant {
  int granted = 0;
  int ended = 0;
};

/// Each grant has one end with the same token, and nothing was dropped.
void check_lines(const std::vector<std::string>& lines) {
  std::map<std::pair<std::int64_t, std::int64_t>, Grant> grants;  // by attempt and token
  std::int64_t last = 0;
  for (const auto& record : test::AuditLines{lines}.all()) {
    if (record.at("event.sequence").as_int64() != ++last) FAIL_CHECK("a record is missing");
    const auto& action = record.at("event.action");
    const bool is_grant = action == "lock.granted";
    if (!is_grant && action != "lock.released" && action != "lock.lost") continue;
    Grant& grant = grants[{record.at("zklock.attempt").as_int64(), record.at("zklock.fencing_token").as_int64()}];
    ++(is_grant ? grant.granted : grant.ended);
    if (grant.ended > grant.granted) FAIL_CHECK("an end before its grant: " << record);
  }
  for (const auto& [key, grant] : grants)
    if (grant.granted != 1 || grant.ended != 1)
      FAIL_CHECK("attempt " << key.first << ": " << grant.granted << " grants, " << grant.ended << " ends");
}

/// The lines are checked when the clients are closed and gone.
std::shared_ptr<AuditLog> make_audit() {
  const auto sink = std::make_shared<test::LineSink>();
  return {new AuditLog{{.sinks = {sink}, .queue_size = 1'000}}, [sink](AuditLog* log) {
            delete log;
            check_lines(sink->lines());
          }};
}

ClientConfig audited(const std::shared_ptr<AuditLog>& audit) {
  return {.session_timeout = 10s, .retry = ExponentialBackoffRetry{20ms, 8}, .observers = {audit}, .slow_wait = 200ms};
}

/// Acquires, works, and leaves the release to the lease.
template <class Lock>
asio::awaitable<void> use(Simulation& simulation, std::string client, const Lock& lock) {
  auto acquiring = simulation.operation<Lease>(client, {"acquire"},
                                               [&lock](auto token) { lock.async_acquire(1s, std::move(token)); });
  auto [error, lease] = co_await std::move(acquiring);
  if (!error) co_await pause(600ms);
}

}  // namespace

TEST_CASE("each grant of a mutex in the audit log has one end, whatever fails") {
  const auto scenario = [](Simulation& simulation) {
    const auto audit = make_audit();
    for (const std::string client : {"a", "b", "b"})
      simulation.actor([&simulation, audit, client]() -> asio::awaitable<void> {
        const InterProcessMutex mutex{simulation.client(client, audited(audit)), directory};
        auto using_it = use(simulation, client, mutex);
        co_await std::move(using_it);
      });
  };
  test::check_exploration(scenario, 100);
  test::check_exploration(scenario, 50, {.operator_deletes = directory});
}

TEST_CASE("each grant of a permit in the audit log has one end, whatever fails") {
  const auto scenario = [](Simulation& simulation) {
    const auto audit = make_audit();
    for (const std::string client : {"a", "b"})
      simulation.actor([&simulation, audit, client]() -> asio::awaitable<void> {
        const InterProcessSemaphore semaphore{simulation.client(client, audited(audit)), directory, 1};
        auto using_it = use(simulation, client, semaphore);
        co_await std::move(using_it);
      });
  };
  test::check_exploration(scenario, 50);
}

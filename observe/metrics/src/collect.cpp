// What a scrape shows of the numbers.
#include "families.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace zklock::metrics {
namespace {

using std::chrono::duration;

double seconds(Clock::duration time) { return duration<double>(time).count(); }

/// Unix time of what the client's clock says.
double unix_time(Clock::time_point when) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return duration<double>(now).count() - seconds(Clock::now() - when);
}

/// The least of what is known.
template <class Value>
void keep_least(std::optional<Value>& least, const std::optional<Value>& value) {
  if (value) least = std::min(least.value_or(*value), *value);
}

/// Of all sessions, that whose leases have the least share of its session timeout left; nullptr: no lock is held.
const SessionHealth* nearest_to_its_end(const Numbers& numbers, Clock::time_point now) {
  const auto share = [&](const SessionHealth& session) {
    return seconds(*session.valid_until - now) / std::max(seconds(session.timeout), 0.001);
  };
  const SessionHealth* nearest = nullptr;
  if (numbers.leases.held + numbers.leases.suspect == 0) return nearest;
  for (const auto& [number, client] : numbers.clients)
    for (const SessionHealth& session : client.health.sessions)
      if (session.valid_until && (nearest == nullptr || share(session) < share(*nearest))) nearest = &session;
  return nearest;
}

using EachKind = std::function<void(const Families::Labels&, const KindNumbers&)>;

void for_each_kind(const Numbers& numbers, const EachKind& action) {
  for (const auto& [label, lock] : numbers.locks)
    for (std::size_t i = 0; i < kinds.size(); ++i)
      if (lock.kind[i]) action({{"lock", label}, {"kind", to_string(kinds[i])}}, *lock.kind[i]);
}

void add_acquisitions(Families& families, const Numbers& numbers) {
  families.counter("zklock_acquisitions_total", "Attempts to acquire that have ended, by outcome.");
  for_each_kind(numbers, [&](Families::Labels labels, const KindNumbers& kind) {
    labels.emplace_back("outcome", "");
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      labels.back().second = to_string(outcomes[i]);
      families.add(labels, kind.outcome[i]);
    }
  });
  families.histogram("zklock_acquire_wait_seconds",
                     "How long attempts that waited in the queue took, whatever their outcome.");
  for_each_kind(numbers, [&](const auto& labels, const auto& kind) { families.add(labels, kind.wait); });
  families.histogram("zklock_hold_seconds", "How long locks were held until they were released or lost.");
  for_each_kind(numbers, [&](const auto& labels, const auto& kind) { families.add(labels, kind.hold); });
  families.gauge("zklock_waiters", "Attempts of this process that are under way.");
  for_each_kind(numbers, [&](const auto& labels, const auto& kind) { families.add(labels, kind.waiters); });
  families.gauge("zklock_holders", "Locks and permits that this process holds.");
  for_each_kind(numbers, [&](const auto& labels, const auto& kind) { families.add(labels, kind.holders); });
}

void add_locks(Families& families, const Numbers& numbers) {
  families.gauge("zklock_oldest_waiter_timestamp_seconds", "When the attempt began that has waited for longest.");
  for (const auto& [label, lock] : numbers.locks)
    if (lock.oldest_waiter) families.add({{"lock", label}}, unix_time(*lock.oldest_waiter));
  families.gauge("zklock_oldest_holder_timestamp_seconds", "When the lock was granted that is held for longest.");
  for (const auto& [label, lock] : numbers.locks)
    if (lock.oldest_holder) families.add({{"lock", label}}, unix_time(*lock.oldest_holder));
  families.counter("zklock_leases_lost_total", "Leases that ended before they were released, by cause.");
  for (const auto& [label, lock] : numbers.locks)
    for (std::size_t i = 0; i < causes.size(); ++i) families.add({{"lock", label}, {"cause", causes[i]}}, lock.lost[i]);
  families.counter("zklock_revocations_total", "Requests of other clients to release a lock.");
  for (const auto& [label, lock] : numbers.locks) families.add({{"lock", label}}, lock.revocations);
  families.counter("zklock_slow_waits_total", "Reports of attempts that had waited for long.");
  for (const auto& [label, lock] : numbers.locks) families.add({{"lock", label}}, lock.slow_waits);
  families.counter("zklock_lock_labels_folded_total", "Attempts for locks that have no label of their own.")
      .add({}, numbers.folded);
}

template <class List, std::size_t size>
void add_states(Families& families, const std::string& name, const std::string& what, const List& list,
                const StateNumbers<size>& numbers) {
  families.gauge("zklock_" + name, "How many " + what + " are in the state.");
  for (std::size_t i = 0; i < size; ++i) families.add({{"state", to_string(list[i])}}, numbers.now[i]);
  families.counter("zklock_" + name + "_changes_total", "How often one of the " + what + " has come to the state.");
  for (std::size_t i = 0; i < size; ++i) families.add({{"state", to_string(list[i])}}, numbers.changes[i]);
}

void add_sessions(Families& families, const Numbers& numbers) {
  families.gauge("zklock_client_state", "Clients in this state; each client is in one.");
  for (const ConnectionState state : states)
    families.add({{"state", to_string(state)}}, std::ranges::count_if(numbers.clients, [&](const auto& client) {
                   return client.second.health.state == state;
                 }));
  std::optional<Clock::time_point> contact;
  std::optional<std::chrono::milliseconds> timeout;
  std::size_t watches = 0;
  for (const auto& [number, client] : numbers.clients) {
    watches += client.watches;
    for (const SessionHealth& session : client.health.sessions) {
      keep_least(contact, session.last_contact);
      keep_least(timeout, std::optional{session.timeout});
    }
  }
  families.gauge("zklock_last_contact_timestamp_seconds",
                 "When a request was sent that a server has answered, of the session that was silent for longest.");
  if (contact) families.add({}, unix_time(*contact));
  // The two belong together: the share is of one session.
  const auto now = Clock::now();
  const SessionHealth* const nearest = nearest_to_its_end(numbers, now);
  if (nearest != nullptr) timeout = nearest->timeout;
  families.gauge("zklock_session_timeout_seconds", "The session timeout that the servers have granted.");
  if (timeout) families.add({}, seconds(*timeout));
  families.gauge("zklock_lease_validity_seconds", "How long the held leases are valid if no server answers any more.");
  if (nearest != nullptr) families.add({}, std::max(0.0, seconds(*nearest->valid_until - now)));
  families.gauge("zklock_leases", "Leases of this process; a suspect one has no link to a server.")
      .add({{"state", "held"}}, numbers.leases.held)
      .add({{"state", "suspect"}}, numbers.leases.suspect);
  families.gauge("zklock_watches", "Watches that the sessions have set.").add({}, watches);
  families.counter("zklock_sessions_total", "Sessions that were made.").add({}, numbers.sessions);
  families.counter("zklock_sessions_lost_total", "Sessions that ended before they were closed.")
      .add({}, numbers.sessions_lost);
  families.counter("zklock_suspensions_total", "Losses of a session's link.").add({}, numbers.suspensions);
}

void add_requests(Families& families, const Numbers& numbers) {
  families.counter("zklock_requests_total", "Requests to ZooKeeper that have ended, by result.");
  for (const auto& [operation, request] : numbers.requests)
    for (std::size_t i = 0; i < results.size(); ++i)
      families.add({{"operation", operation}, {"result", results[i]}}, request.result[i]);
  families.histogram("zklock_request_seconds", "How long requests to ZooKeeper took.");
  for (const auto& [operation, request] : numbers.requests) families.add({{"operation", operation}}, request.took);
  families.gauge("zklock_requests_in_flight", "Requests to ZooKeeper that are under way.").add({}, numbers.in_flight);
  families.counter("zklock_retries_total", "Failures after which an operation may be tried again.")
      .add({}, numbers.retries);
  families.gauge("zklock_cleanups_pending", "Nodes that are still to be deleted; others may wait for them.")
      .add({}, numbers.cleanups);
  families.gauge("zklock_oldest_cleanup_timestamp_seconds", "Since when the oldest of these is pending.");
  if (numbers.oldest_cleanup) families.add({}, unix_time(*numbers.oldest_cleanup));
  families.histogram("zklock_io_delay_seconds", "How late the timers of the clients' I/O are.")
      .add({}, numbers.io_delay);
}

}  // namespace

std::vector<prometheus::MetricFamily> Metrics::Collect() const {
  const Numbers numbers = books_->copy();
  Families families;
  add_acquisitions(families, numbers);
  add_locks(families, numbers);
  add_states(families, "kept_nodes", "nodes that this process keeps", node_phases, numbers.nodes);
  add_states(families, "followed", "caches, groups, watches and streams of values", freshness_states, numbers.followed);
  add_sessions(families, numbers);
  add_requests(families, numbers);
  families.gauge("zklock_build_info", "The version of zklock.").add({{"version", ZKLOCK_VERSION}}, 1);
  if (options_.audit) {
    const AuditCounts audit = options_.audit();
    families.counter("zklock_audit_records_total", "Records of the audit log.").add({}, audit.records);
    families.counter("zklock_audit_dropped_total", "Records that the audit log had to drop.").add({}, audit.dropped);
  }
  return families.take();
}

std::string Metrics::text() const { return to_text(Collect()); }

}  // namespace zklock::metrics

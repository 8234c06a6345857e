// The text that a scrape gets, and its limits.
#include "support/exposition.hpp"

#include "support/catch.hpp"

#include <zklock/metrics/metrics.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace zklock;
using namespace zklock::metrics;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

void ask(Metrics& metrics, const std::string& path, std::uint64_t attempt) {
  metrics.on_lock({.phase = LockPhase::asked, .attempt = attempt, .path = path});
}

void request(Metrics& metrics, RequestPhase phase) {
  RequestEvent event;
  event.phase = phase;
  event.operation = "create";
  event.took = 1ms;
  metrics.on_request(event);
}

std::string waiters(const std::string& label) { return "zklock_waiters{lock=\"" + label + "\",kind=\"mutex\"}"; }

}  // namespace

TEST_CASE("locks beyond the limit have one label together, and are counted") {
  Metrics metrics{{.max_locks = 2}};
  ask(metrics, "/a", 1);
  ask(metrics, "/b", 2);
  CHECK(Exposition{metrics.text()}["zklock_lock_labels_folded_total"] == 0);
  ask(metrics, "/c", 3);
  ask(metrics, "/d", 4);
  ask(metrics, "/a", 5);
  const Exposition seen{metrics.text()};
  CHECK(seen[waiters("/a")] == 2);
  CHECK(seen[waiters("/b")] == 1);
  CHECK(seen[waiters("(other)")] == 2);
  CHECK(seen.count("zklock_waiters{") == 3);
  CHECK(seen["zklock_lock_labels_folded_total"] == 2);
}

TEST_CASE("a million paths need no more memory than their labels") {
  Metrics metrics;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::string path = "/locks/name" + std::to_string(i);
    ask(metrics, path, i);
    metrics.on_lock({.phase = LockPhase::timed_out, .attempt = i, .path = path, .waited = 1ms});
  }
  CHECK(Exposition{metrics.text()}.count("zklock_waiters{") == 65);
}

TEST_CASE("hostile paths are escaped, and what is not UTF-8, or too long, is among the others") {
  Metrics metrics;
  ask(metrics, "/a\"} 1\\\nzklock_fake 2", 1);
  const std::string text = metrics.text();
  CHECK(text.find("zklock_waiters{lock=\"/a\\\"} 1\\\\\\nzklock_fake 2\",kind=\"mutex\"} 1\n") != text.npos);
  CHECK(text.find("\nzklock_fake") == text.npos);
  ask(metrics, "/\xff", 2);
  ask(metrics, "/\xc3", 3);
  ask(metrics, "/\xe0\x80\xaf", 6);  // an overlong '/'
  ask(metrics, "/" + std::string(300, 'x'), 4);
  ask(metrics, "/\xc3\xa4\xe2\x82\xac", 5);
  const Exposition seen{metrics.text()};
  CHECK(seen[waiters("(other)")] == 4);
  CHECK(seen[waiters("/\xc3\xa4\xe2\x82\xac")] == 1);
}

TEST_CASE("each family is there from the start, and what the audit log counts if it is asked for") {
  const Exposition without{Metrics{}.text()};
  CHECK(without.families().size() == 32);
  CHECK(without["zklock_build_info{version=\"0.1.0\"}"] == 1);
  CHECK_FALSE(without["zklock_audit_records_total"]);
  const Metrics metrics{{.audit = [] { return AuditCounts{.records = 9, .dropped = 2}; }}};
  const Exposition with{metrics.text()};
  CHECK(with["zklock_audit_records_total"] == 9);
  CHECK(with["zklock_audit_dropped_total"] == 2);
}

TEST_CASE("a Collectable has what the text has") {
  Metrics metrics;
  ask(metrics, "/a", 1);
  const auto families = static_cast<const prometheus::Collectable&>(metrics).Collect();
  std::set<std::string> names;
  for (const auto& family : families) names.insert(family.name);
  CHECK(names == Exposition{metrics.text()}.families());
}

TEST_CASE("buckets can be set, and must ascend") {
  Metrics metrics{{.buckets = {.wait = {1, 2}}}};
  ask(metrics, "/a", 1);
  CHECK(Exposition{metrics.text()}.count("zklock_acquire_wait_seconds_bucket{lock=\"/a\"") == 3);
  CHECK_THROWS_AS((Metrics{{.buckets = {.hold = {1, 1}}}}), std::invalid_argument);
  CHECK_THROWS_AS((Metrics{{.labeller = nullptr}}), std::invalid_argument);
}

TEST_CASE("scrapes while threads observe see numbers that belong together") {
  Metrics metrics;
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (std::uint64_t number = 0; number < 3; ++number)
    threads.emplace_back([&metrics, &stop, number] {
      const std::string path = "/locks/" + std::to_string(number);
      for (std::uint64_t i = number; !stop; i += 3) {
        ask(metrics, path, i);
        metrics.on_lock({.phase = LockPhase::granted, .attempt = i, .path = path, .fencing_token = 1, .waited = 1ms});
        metrics.on_lock({.phase = LockPhase::released, .attempt = i, .path = path, .fencing_token = 1, .held = 1ms});
        request(metrics, RequestPhase::begun);
        request(metrics, RequestPhase::ended);
      }
    });
  double before = 0;
  int unequal = 0;
  for (int i = 0; i < 200 || before < 100; ++i) {
    const Exposition seen{metrics.text()};
    const double granted = seen.sum("zklock_acquisitions_total{");
    unequal += granted == seen.sum("zklock_acquire_wait_seconds_count{") ? 0 : 1;
    unequal += granted == seen.sum("zklock_hold_seconds_count{") + seen.sum("zklock_holders{") ? 0 : 1;
    unequal += granted < before ? 1 : 0;
    before = granted;
  }
  stop = true;
  CHECK(unequal == 0);
}

// How long the audit log keeps the thread that tells it of a lock: that thread's CPU time for a record.
//
//   zklock_bench_audit MICROSECONDS   exit status 1 if a record takes longer
//
// CPU time, and the median round's, so that what else runs on the machine matters little.
#include <zklock/audit/audit_log.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include <time.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t records_a_round = 4'096;  // half of the queue, which the audit log writes at once
constexpr std::size_t rounds = 32;

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void tell(zklock::AuditLog& log, std::uint64_t number) {
  zklock::LockEvent event{.phase = zklock::LockPhase::granted,
                          .attempt = number,
                          .client_id = "host-12-ab34cd56",
                          .path = "/services/shop/locks/orders-2026",
                          .session_id = 0x1000a2b,
                          .owner = number,
                          .node_path = "/locks/orders-2026/_c_72f8b8da-2122-47ec-b139-cbd8e4116124-lock-0000000002",
                          .fencing_token = 4'294'967'298,
                          .waited = 3'100us};
  if (number % 2 != 0) {
    event.phase = zklock::LockPhase::released;
    event.waited.reset();
    event.held = 5ms;
  }
  log.on_lock(event);
}

double microseconds_a_record() {
  const auto file = std::filesystem::temp_directory_path() / ("zklock-bench-audit-" + std::to_string(::getpid()));
  zklock::AuditLog log{{.file = file.string()}};
  std::filesystem::remove(file);
  std::array<double, rounds> used{};
  std::uint64_t told = 0;
  for (double& round : used) {
    const double before = cpu_seconds();
    for (std::uint64_t i = 0; i < records_a_round; ++i) tell(log, told++);
    round = cpu_seconds() - before;
    while (log.records() + log.dropped() < told) std::this_thread::yield();
  }
  if (log.dropped() != 0) throw std::runtime_error{"records were dropped: they cost less than others"};
  std::ranges::nth_element(used, used.begin() + rounds / 2);
  return used[rounds / 2] * 1e6 / static_cast<double>(records_a_round);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw std::invalid_argument{"usage: zklock_bench_audit MICROSECONDS"};
  const double measured = microseconds_a_record();
  std::printf("a record of the audit log takes %.2f us of the thread that tells of it; at most %s\n", measured,
              argv[1]);
  return measured <= std::atof(argv[1]) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "zklock_bench_audit: %s\n", error.what());
  return 2;
}

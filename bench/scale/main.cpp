// Prints the table of docs/scaling.md: ensembles under an even and a skewed load, simulated.
//
//   zklock_bench_scale [ENSEMBLES...]   1 2 4 8 16 unless told
//
// Fails if they make more locks than their writes allow, or if one ensemble under an even load makes fewer: then the
// locks cost other writes than a create and a delete, and the figures are not those of the ensembles' number.
#include "fleet.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace zklock::bench {
namespace {

/// The share of the locks that the ensembles' writes allow, two writes for each.
double use_of(const Fleet& fleet, std::size_t ensembles, const Outcome& outcome) {
  const double writes = static_cast<double>(ensembles) / std::chrono::duration<double>{fleet.write_time}.count();
  return outcome.locks_per_s / (writes / 2);
}

bool print_row(const Fleet& fleet, std::size_t ensembles) {
  const Outcome even = simulate(fleet, ensembles, Load::even);
  const Outcome skewed = simulate(fleet, ensembles, Load::skewed);
  const double use = use_of(fleet, ensembles, even);
  const double skewed_use = use_of(fleet, ensembles, skewed);
  std::printf("| %zu | %.0f | %.0f %% | %.1f | %.1f ", ensembles, even.locks_per_s, 100 * use, even.p50_ms,
              even.p99_ms);
  std::printf("| %.0f | %.0f %% | %.0f %% | %.1f | %.1f |\n", skewed.locks_per_s, 100 * skewed_use,
              100 * skewed.busiest, skewed.p50_ms, skewed.p99_ms);
  constexpr double tolerance = 0.03;  // locks that began before the counted time
  const bool is_saturated = ensembles > 1 || use > 1 - tolerance;
  return is_saturated && use < 1 + tolerance && skewed_use < 1 + tolerance;
}

int print_table(const std::vector<std::size_t>& rows) {
  std::puts(
      "| ensembles | even load: locks/s | of the writes | wait p50 ms | p99 ms | skewed load: locks/s | of the writes "
      "| "
      "busiest | wait p50 ms | p99 ms |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
  bool as_expected = true;
  for (const std::size_t ensembles : rows) as_expected = print_row({}, ensembles) && as_expected;
  if (!as_expected) std::fputs("zklock_bench_scale: a lock costs other than two writes\n", stderr);
  return as_expected ? 0 : 1;
}

}  // namespace
}  // namespace zklock::bench

int main(int argc, char** argv) try {
  std::vector<std::size_t> rows;
  for (int i = 1; i < argc; ++i) rows.push_back(std::stoul(argv[i]));
  return zklock::bench::print_table(rows.empty() ? std::vector<std::size_t>{1, 2, 4, 8, 16} : rows);
} catch (const std::exception& error) {
  std::fprintf(stderr, "zklock_bench_scale: %s\n", error.what());
  return 1;
}

// Runs one scenario with every fault at every step.
#pragma once

#include <zklock/testing/simulation.hpp>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace zklock::testing {

/// Sets up a Simulation: makes clients, starts actors, adds invariants.
using Scenario = std::function<void(Simulation&)>;

/// The faults that explore() injects at a step; a step is a FakeCall.
enum class Fault {
  request_lost,     ///< the connection breaks before the request is applied
  reply_lost,       ///< the connection breaks after it is applied, before the reply
  expired_before,   ///< the session ends before the request is applied
  expired_after,    ///< the session ends after it is applied, before the reply
  cancelled,        ///< an operation is cancelled while the reply is under way
  cancelled_later,  ///< an operation is cancelled some messages later; it may wait for other clients then
  overslept,        ///< while the reply is under way the process pauses until an operation's deadline has passed
  closed,           ///< a client is closed while the reply is under way
  closed_later,     ///< a client is closed some messages later
  closed_cut,       ///< a client's connection breaks, and it is closed before it has another
  request_late,     ///< the connection breaks, and the request is carried out some time later [F16b]
  deleted,          ///< an operator deletes a node, and what is below it, while the reply is under way
  deleted_later     ///< an operator does so some messages later
};

[[nodiscard]] std::string_view to_string(Fault fault) noexcept;

struct ExplorationOptions {
  std::uint64_t seed = 1;
  /// The number of pairs of faults, drawn by the seed, in addition to each fault alone.
  std::size_t pairs = 0;
  /// Runs one of this many single faults, starting at a place given by the seed; 1 runs each.
  std::size_t stride = 1;
  std::size_t max_failures = 5;  ///< the exploration stops then
  /// An operator deletes each node from this path downwards, at each step. The first fault of each run is one of these
  /// deletions; the second of a pair is any fault. Empty: there is no operator.
  std::string operator_deletes{};
  /// Requests come late, too, after FakeEnsembleOptions::lateness.
  bool late_requests = false;
  /// Runs only this case: a failure's `replay`.
  std::string only{};
  /// Messages take some time, so that faults can happen while one is under way.
  FakeEnsembleOptions ensemble{.latency = std::chrono::milliseconds{1}};
};

struct ExplorationFailure {
  std::string replay;  ///< "reply_lost@7", "cancelled@3#0 request_lost@9"; empty: no fault
  std::string what;
  std::vector<std::string> calls;  ///< the steps of that run, as text
};

struct ExplorationReport {
  std::size_t runs = 0;
  std::size_t steps = 0;  ///< of the scenario without faults
  std::vector<ExplorationFailure> failures{};

  [[nodiscard]] explicit operator bool() const noexcept { return runs > 0 && failures.empty(); }
};

std::ostream& operator<<(std::ostream& out, const ExplorationReport& report);

/// Runs the scenario once as it is; then with each fault (or one of `stride`) at each step, for each operation or
/// client that exists at that step; then with pairs of faults. Each run is a Simulation of its own, from the same seed,
/// and must pass the checks of Simulation::run() and the scenario's invariants.
///
/// Deterministic, apart from what the scenario takes from elsewhere. Throws std::invalid_argument if options.only is
/// not a failure's `replay`.
[[nodiscard]] ExplorationReport explore(const Scenario& scenario, const ExplorationOptions& options = {});

}  // namespace zklock::testing

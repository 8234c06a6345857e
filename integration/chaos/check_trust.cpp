// I16: what leases and sessions report about themselves, and what became of them.
#include "judge.hpp"

#include <algorithm>
#include <string>

namespace zklock::chaos {
namespace {

/// How long before the end of a session its reported validity ended. Nothing when the servers did not end the session
/// by themselves: then the margin is unknown.
std::optional<std::int64_t> margin_of(const Evidence& evidence, std::int64_t session, const Record& trust) {
  const auto end = evidence.history.ended_sessions().find(session);
  if (end == evidence.history.ended_sessions().end()) return std::nullopt;
  if (!end->second.is_by_servers || evidence.ended_sessions.contains(session)) return std::nullopt;
  return end->second.at - trust.number;
}

}  // namespace

std::vector<Violation> check_trust(const Evidence& evidence) {
  std::vector<Violation> found;
  for (const auto& [session, trust] : evidence.trusts)
    if (const auto margin = margin_of(evidence, session, trust); margin && *margin < -evidence.bounds.clocks.count())
      found.push_back({(trust.token != 0 ? "a lease" : "a session") + std::string{" trusts itself for "} +
                           std::to_string(-*margin / 1'000) + " ms longer than its session lives",
                       trust.token != 0 ? std::vector{trust.token} : std::vector<std::int64_t>{}, trust.process,
                       trust.operation, trust.number});
  return found;
}

std::optional<double> least_margin(const Evidence& evidence) {
  std::optional<std::int64_t> least;
  for (const auto& [session, trust] : evidence.trusts)
    if (const auto margin = margin_of(evidence, session, trust)) least = std::min(least.value_or(*margin), *margin);
  if (!least) return std::nullopt;
  return static_cast<double>(*least) / 1'000;
}

}  // namespace zklock::chaos

// I6: no waiter whose turn it was is refused.
#include "judge.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zklock::chaos {
namespace {

/// The wait queue of the clients that want permits of a semaphore. The first of them makes nodes among the leases.
bool is_before_permits(const Node& node) { return node.directory.ends_with("/locks"); }

std::string leases_behind(const Node& node) {
  return node.directory.substr(0, node.directory.size() - std::string_view{"/locks"}.size()) + "/leases";
}

using SessionInQueue = std::pair<std::int64_t, std::string>;

/// When each session has made nodes in each wait queue.
std::map<SessionInQueue, std::vector<std::int64_t>> creations_of(const Evidence& evidence) {
  std::map<SessionInQueue, std::vector<std::int64_t>> all;
  for (const auto& [token, node] : evidence.history.nodes())
    all[{node.session, node.directory}].push_back(node.created_at);
  return all;
}

}  // namespace

std::vector<Violation> find_passed_over(const Evidence& evidence) {
  std::vector<Violation> found;
  const auto creations = creations_of(evidence);
  for (const auto& [token, node] : evidence.history.nodes()) {
    const int process = evidence.process_of(node);
    if (node.became_first_at < 0 || evidence.holds.contains(token)) continue;
    const auto makers = evidence.makers_of(node);
    // An acquire of several locks as one may have the first of them, and wait for the other.
    const bool may_have_it = node.place.kind == LockKind::mutex &&
                             std::ranges::any_of(makers, [](const Attempt* each) { return each->kind == "several"; });
    if (makers.empty() || may_have_it || evidence.is_twin_of_foreign_user(node)) continue;
    std::int64_t until = node.removed_at != 0 ? node.removed_at : evidence.ends_at;
    until = std::min(until, evidence.killed_at(process));
    for (const Attempt* each : makers) until = std::min(until, each->when.end);
    if (is_before_permits(node))
      if (const auto made = creations.find({node.session, leases_behind(node)}); made != creations.end())
        if (const auto next = std::ranges::lower_bound(made->second, node.became_first_at); next != made->second.end())
          until = std::min(until, *next);
    if (until > node.became_first_at && evidence.is_too_long(process, {node.became_first_at, until}))
      found.push_back({"nobody kept it out for " + std::to_string((until - node.became_first_at) / 1'000) +
                           " ms, and it was not granted",
                       {token},
                       process,
                       makers.front()->operation,
                       until});
  }
  return found;
}

/// A waiter without a limit is granted in the end, so the waiters with a limit show whether a kind is served. If a kind
/// is not served at all, its users wait and ask no more. Its grants are therefore compared with those of the other
/// kinds, too. Foreign users ask rarely, and always with a limit, whatever their libraries make of it.
std::vector<Violation> find_starved(const Evidence& evidence) {
  constexpr std::int64_t enough = 200;  // so many tell a share
  constexpr std::int64_t enough_of_foreign_users = 20;
  auto tallies = tally_by_kind(evidence);
  std::vector<Violation> found;
  for (const char* library : {"curator", "kazoo"})
    if (const auto tally = tallies.extract(library);
        tally && tally.mapped().asked >= enough_of_foreign_users &&
        static_cast<double>(tally.mapped().granted) <
            evidence.bounds.granted * static_cast<double>(tally.mapped().asked))
      found.push_back({std::string{library} + " was granted only " + std::to_string(tally.mapped().granted) + " of " +
                       std::to_string(tally.mapped().asked) + " locks"});
  double mean = 0;
  for (const auto& [kind, tally] : tallies)
    mean += static_cast<double>(tally.granted) / static_cast<double>(tallies.size());
  for (const auto& [kind, tally] : tallies) {
    const auto [asked, granted, asked_with_limit, granted_with_limit] = tally;
    if (asked_with_limit >= enough &&
        static_cast<double>(granted_with_limit) < evidence.bounds.granted * static_cast<double>(asked_with_limit))
      found.push_back({"of " + std::to_string(asked_with_limit) + " of the kind '" + kind + "' with a limit only " +
                       std::to_string(granted_with_limit) + " were granted"});
    if (mean >= enough && static_cast<double>(granted) < evidence.bounds.of_the_mean * mean)
      found.push_back({"of the kind '" + kind + "' only " + std::to_string(granted) + " were granted, of each kind " +
                       std::to_string(static_cast<std::int64_t>(mean)) + " in the mean"});
  }
  return found;
}

std::map<std::string, Tally> tally_by_kind(const Evidence& evidence) {
  std::map<std::pair<int, std::int64_t>, const Attempt*> all;  // an attempt for several locks is there with each
  for (const auto& [place, attempts] : evidence.attempts)
    for (const Attempt& each : attempts) all[{each.process, each.operation}] = &each;
  std::map<std::string, Tally> kinds;
  for (const auto& [key, attempt] : all) {
    Tally& tally = kinds[attempt->kind];
    const bool is_granted = !attempt->nodes.empty();
    ++tally.asked;
    tally.granted += is_granted ? 1 : 0;
    tally.asked_with_limit += attempt->has_limit ? 1 : 0;
    tally.granted_with_limit += attempt->has_limit && is_granted ? 1 : 0;
  }
  return kinds;
}

}  // namespace zklock::chaos

#include "leaders.hpp"

#include "connection.hpp"
#include "overview.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>

#include <iostream>

namespace zklock::tools {
namespace {

/// Those of a latch, else those of a selector, under Curator's names or Kazoo's.
std::vector<Leader> candidates_at(const ClientHandle& client, const std::string& path) {
  if (auto candidates = LeaderLatch{client, path}.participants(); !candidates.empty()) return candidates;
  if (auto candidates = LeaderSelector{client, path}.participants(); !candidates.empty()) return candidates;
  return LeaderSelector{client, path, LockNaming::kazoo}.participants();
}

}  // namespace

int leaders(const LeadersOptions& options) {
  const Connection connection{options.where};
  const auto candidates =
      connection.with_client([&](const Client& client) { return candidates_at(client, options.path); });
  const auto now = std::chrono::system_clock::now();
  if (candidates.empty()) say("nobody leads, and nobody stands, at " + options.path);
  std::cout << (options.json ? to_json(candidates, now) : to_table(candidates, now)) << std::flush;
  return std::cout ? 0 : 1;
}

}  // namespace zklock::tools

#include "leaders.hpp"

#include "connection.hpp"
#include "duration.hpp"
#include "overview.hpp"
#include "printable.hpp"
#include "table.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <iostream>

namespace zklock::tools {
namespace {

using Now = std::chrono::system_clock::time_point;
using std::chrono::milliseconds;

milliseconds age_of(const Leader& one, Now now) {
  return std::max(std::chrono::duration_cast<milliseconds>(now - one.since), milliseconds::zero());
}

std::string_view state_at(std::size_t position) { return position == 0 ? "leader" : "waiting"; }

/// Those of a latch, else those of a selector, under Curator's names or Kazoo's.
std::vector<Leader> candidates_at(const ClientHandle& client, const std::string& path) {
  if (auto candidates = LeaderLatch{client, path}.participants(); !candidates.empty()) return candidates;
  if (auto candidates = LeaderSelector{client, path}.participants(); !candidates.empty()) return candidates;
  return LeaderSelector{client, path, LockNaming::kazoo}.participants();
}

}  // namespace

std::string to_table(const std::vector<Leader>& candidates, Now now) {
  Table table{{"POSITION", "STATE", "ID", "SESSION", "TOKEN", "AGE", "NODE"}};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Leader& one = candidates[i];
    table.push_back({std::to_string(i + 1), std::string{state_at(i)}, one.id.empty() ? "-" : one.id,
                     to_hexadecimal(one.session_id), std::to_string(one.fencing_token), format_age(age_of(one, now)),
                     std::string{node_name(one.node_path)}});
  }
  return to_text(table);
}

std::string to_json(const std::vector<Leader>& candidates, Now now) {
  boost::json::array array;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Leader& one = candidates[i];
    array.push_back(boost::json::object{{"position", i + 1},
                                        {"state", state_at(i)},
                                        {"id", one.id},
                                        {"session", to_hexadecimal(one.session_id)},
                                        {"fencing_token", one.fencing_token},
                                        {"age_ms", age_of(one, now).count()},
                                        {"node", node_name(one.node_path)}});
  }
  return to_ascii(boost::json::serialize(array)) + "\n";
}

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

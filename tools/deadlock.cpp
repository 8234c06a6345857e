#include "deadlock.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace zklock::tools {
namespace {

using Place = std::size_t;

/// An edge goes from what stays to whatever must go or be granted first: from a waiting node to those that keep it out,
/// from a held one to those that its client waits with elsewhere.
struct Graph {
  std::vector<const Participant*> nodes;
  std::vector<bool> held;
  std::vector<std::vector<Place>> edges;
};

/// Who keeps the one at `index` out: the first in line, and all in front up to one who is kept out by the rest.
std::vector<Place> keepers(const Line& line, Place index) {
  std::vector<Place> result;
  for (Place i = index; i-- > 0;) {
    if (!keeps_waiting(line[i], line[index])) continue;
    result.push_back(i);
    if (line[i].kind != LockKind::read) break;
  }
  const bool has_first = !result.empty() && result.back() == 0;
  if (!has_first && keeps_waiting(line.front(), line[index])) result.push_back(0);
  return result;
}

void add_line(Graph& graph, const Line& line) {
  const Place first = graph.nodes.size();
  for (Place i = 0; i < line.size(); ++i) {
    std::vector<Place> ahead = keepers(line, i);
    std::erase_if(ahead, [&](Place other) { return line[other].session_id == line[i].session_id; });
    std::ranges::for_each(ahead, [&](Place& other) { other += first; });
    graph.nodes.push_back(&line[i]);
    graph.held.push_back(is_holder(line, i));
    graph.edges.push_back(std::move(ahead));
  }
}

Graph make_graph(const std::vector<Line>& lines) {
  Graph graph;
  for (const Line& line : lines) add_line(graph, line);
  std::map<std::int64_t, std::vector<Place>> waiting;
  for (Place i = 0; i < graph.nodes.size(); ++i)
    if (!graph.held[i]) waiting[graph.nodes[i]->session_id].push_back(i);
  for (Place i = 0; i < graph.nodes.size(); ++i)
    if (graph.held[i] && has_session(*graph.nodes[i])) graph.edges[i] = waiting[graph.nodes[i]->session_id];
  return graph;
}

/// The shortest way from `start` back to it; nothing if there is none.
std::vector<Place> way_back(const Graph& graph, Place start) {
  std::map<Place, Place> from;
  std::deque<Place> next{start};
  for (; !next.empty(); next.pop_front())
    for (const Place to : graph.edges[next.front()]) {
      if (!from.emplace(to, next.front()).second) continue;
      if (to != start) {
        next.push_back(to);
        continue;
      }
      std::vector<Place> way{start};
      for (Place at = from.at(start); at != start; at = from.at(at)) way.push_back(at);
      std::ranges::reverse(way.begin() + 1, way.end());
      return way;
    }
  return {};
}

Circle to_circle(const Graph& graph, const std::vector<Place>& way) {
  Circle circle;
  for (Place i = 0; i < way.size(); ++i)
    if (!graph.held[way[i]]) circle.push_back({*graph.nodes[way[i]], *graph.nodes[way[(i + 1) % way.size()]]});
  return circle;
}

std::set<std::int64_t> sessions_of(const Circle& circle) {
  std::set<std::int64_t> result;
  for (const Wait& wait : circle) result.insert(wait.waiting.session_id);
  return result;
}

}  // namespace

std::vector<Circle> find_deadlocks(const std::vector<Line>& lines) {
  const Graph graph = make_graph(lines);
  std::vector<Circle> circles;
  std::set<std::set<std::int64_t>> named;
  for (Place i = 0; i < graph.nodes.size(); ++i) {
    if (!graph.held[i] || graph.edges[i].empty()) continue;
    const std::vector<Place> way = way_back(graph, i);
    if (way.empty()) continue;
    Circle circle = to_circle(graph, way);
    if (named.insert(sessions_of(circle)).second) circles.push_back(std::move(circle));
  }
  return circles;
}

}  // namespace zklock::tools

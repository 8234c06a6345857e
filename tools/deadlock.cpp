#include "deadlock.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace zklock::tools {
namespace {

using Vertex = std::size_t;

/// An edge goes from what stays to what must be released or granted first: from a waiting node to the nodes that block
/// it, from a held node to its client, and from a client to the nodes by which it waits. There are about as many edges
/// as nodes.
struct Graph {
  std::vector<const LockParticipant*> nodes;  ///< null for a client
  std::vector<bool> held;
  std::vector<std::vector<Vertex>> edges;

  Vertex add(const LockParticipant* node, bool is_held) {
    nodes.push_back(node);
    held.push_back(is_held);
    edges.emplace_back();
    return nodes.size() - 1;
  }
};

/// For each node of the queue the nodes that block it: the first one, and all ahead back to a node that the remaining
/// ones block.
std::vector<std::vector<Vertex>> keepers(const WaitQueue& queue) {
  std::vector<std::vector<Vertex>> result(queue.size());
  std::vector<Vertex> readers;  // the readers since the last other node
  std::optional<Vertex> last;   // the last node that is no reader
  for (Vertex i = 0; i < queue.size(); ++i) {
    const bool reads = queue[i].kind == LockKind::read;
    std::vector<Vertex> ahead = reads ? std::vector<Vertex>{} : readers;
    if (last) ahead.push_back(*last);
    if (i > 0) ahead.push_back(0);
    std::erase_if(ahead, [&](Vertex other) { return !blocks_waiters(queue[other], queue[i]); });
    result[i] = std::move(ahead);
    if (reads) {
      readers.push_back(i);
      continue;
    }
    readers.clear();
    last = i;
  }
  return result;
}

void add_queue(Graph& graph, const WaitQueue& queue) {
  const Vertex first = graph.nodes.size();
  const std::vector<bool> granted = holders(queue);
  auto ahead = keepers(queue);
  for (Vertex i = 0; i < queue.size(); ++i) {
    std::erase_if(ahead[i], [&](Vertex other) { return queue[other].session_id == queue[i].session_id; });
    const Vertex node = graph.add(&queue[i], granted[i]);
    for (const Vertex other : ahead[i]) graph.edges[node].push_back(first + other);
  }
}

Graph make_graph(const std::vector<WaitQueue>& queues) {
  Graph graph;
  for (const WaitQueue& queue : queues) add_queue(graph, queue);
  std::map<std::int64_t, Vertex> clients;
  const Vertex nodes = graph.nodes.size();
  for (Vertex i = 0; i < nodes; ++i) {
    if (!has_session(*graph.nodes[i])) continue;
    const auto [client, is_new] = clients.try_emplace(graph.nodes[i]->session_id, graph.nodes.size());
    if (is_new) graph.add(nullptr, true);
    const bool holds = graph.held[i];
    graph.edges[holds ? i : client->second].push_back(holds ? client->second : i);
  }
  return graph;
}

/// The number of each vertex's strongly connected component: within a component every vertex can be reached from every
/// other.
std::vector<Vertex> components(const Graph& graph) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> all(graph.nodes.size());
  for (Vertex from = 0; from < graph.edges.size(); ++from)
    for (const Vertex to : graph.edges[from]) boost::add_edge(from, to, all);
  std::vector<Vertex> result(graph.nodes.size());
  if (!result.empty())
    boost::strong_components(all,
                             boost::make_iterator_property_map(result.begin(), boost::get(boost::vertex_index, all)));
  return result;
}

/// The shortest way from `start` back to it, within its component; empty if there is none.
std::vector<Vertex> way_back(const Graph& graph, const std::vector<Vertex>& component, Vertex start) {
  std::map<Vertex, Vertex> from;
  std::deque<Vertex> next{start};
  for (; !next.empty(); next.pop_front())
    for (const Vertex to : graph.edges[next.front()]) {
      if (component[to] != component[start] || !from.emplace(to, next.front()).second) continue;
      if (to != start) {
        next.push_back(to);
        continue;
      }
      std::vector<Vertex> way{start};
      for (Vertex at = from.at(start); at != start; at = from.at(at)) way.push_back(at);
      std::ranges::reverse(way.begin() + 1, way.end());
      return way;
    }
  return {};
}

Circle to_circle(const Graph& graph, std::vector<Vertex> way) {
  std::erase_if(way, [&](Vertex place) { return graph.nodes[place] == nullptr; });
  Circle circle;
  for (Vertex i = 0; i < way.size(); ++i)
    if (!graph.held[way[i]]) circle.push_back({*graph.nodes[way[i]], *graph.nodes[way[(i + 1) % way.size()]]});
  return circle;
}

}  // namespace

std::vector<Circle> find_deadlocks(const std::vector<WaitQueue>& queues) {
  const Graph graph = make_graph(queues);
  const std::vector<Vertex> component = components(graph);
  std::vector<Circle> circles;
  std::set<Vertex> done;
  for (Vertex i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i] == nullptr || !graph.held[i] || !done.insert(component[i]).second) continue;
    const std::vector<Vertex> way = way_back(graph, component, i);
    if (!way.empty()) circles.push_back(to_circle(graph, way));
  }
  return circles;
}

}  // namespace zklock::tools

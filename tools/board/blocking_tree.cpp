#include "blocking_tree.hpp"

#include <zklock/path.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace zklock::tools {
namespace {

constexpr std::size_t max_depth = 32;

/// A wait for a held node of another client.
struct Edge {
  const LockParticipant* held;
  const LockParticipant* waiting;
};

using Session = std::int64_t;

struct Waits {
  std::map<Session, std::vector<Edge>> by_holder;
  std::set<Session> waiting;
};

/// The holders that the first one of a queue's waiters waits for hold up all the others, too: one edge for each waiter,
/// from the first holder.
Waits waits_of(const std::vector<WaitQueue>& queues) {
  Waits waits;
  for (const WaitQueue& queue : queues) {
    const auto granted = holders(queue);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const LockParticipant& holder = queue.front();
      if (granted[i] || holder.session_id == queue[i].session_id) continue;
      waits.by_holder[holder.session_id].push_back({&holder, &queue[i]});
      waits.waiting.insert(queue[i].session_id);
    }
  }
  return waits;
}

class Tree {
 public:
  Tree(const Waits& waits, std::size_t limit) : waits_{waits}, limit_{limit} {}

  void grow_from(Session root) { grow(root, *waits_.by_holder.at(root).front().held, 0); }
  [[nodiscard]] bool has(Session session) const { return shown_.contains(session); }
  [[nodiscard]] std::vector<Blocker> take() { return std::move(entries_); }

 private:
  /// Gives the number of waits below.
  std::size_t grow(Session session, const LockParticipant& by, std::size_t depth) {
    if (entries_.size() >= limit_ || depth > max_depth) return 0;
    const std::size_t place = entries_.size();
    const bool is_circle = !branch_.insert(session).second;
    const bool again = !shown_.insert(session).second;
    entries_.push_back({by, depth, 0, is_circle});
    const auto edges = waits_.by_holder.find(session);
    std::size_t blocked = 0;
    if (!again && edges != waits_.by_holder.end())
      for (const Edge& edge : edges->second) blocked += 1 + grow(edge.waiting->session_id, *edge.waiting, depth + 1);
    if (!is_circle) branch_.erase(session);
    entries_[place].blocked = blocked;
    return blocked;
  }

  const Waits& waits_;
  std::size_t limit_;
  std::vector<Blocker> entries_;
  std::set<Session> branch_;
  std::set<Session> shown_;
};

std::vector<Session> by_number_of_waits(const Waits& waits) {
  std::vector<std::pair<std::size_t, Session>> order;
  for (const auto& [session, edges] : waits.by_holder) order.emplace_back(edges.size(), session);
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& one) { return one.first; });
  std::vector<Session> sessions;
  for (const auto& [number, session] : order) sessions.push_back(session);
  return sessions;
}

}  // namespace

std::vector<Blocker> blocking_tree(const std::vector<WaitQueue>& queues, std::size_t limit) {
  const Waits waits = waits_of(queues);
  const std::vector<Session> order = by_number_of_waits(waits);
  Tree tree{waits, limit};
  for (const Session session : order)
    if (!waits.waiting.contains(session)) tree.grow_from(session);
  for (const Session session : order)
    if (!tree.has(session)) tree.grow_from(session);
  return tree.take();
}

}  // namespace zklock::tools

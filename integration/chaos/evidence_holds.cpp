// What follows from the users' records for each node, and from the nodes for those that clients keep.
#include "evidence.hpp"
#include "layout.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace zklock::chaos {

namespace {

/// What all of these have done with one node.
Hold merge(std::vector<const Hold*> users) {
  std::ranges::stable_sort(users, {}, [](const Hold* each) { return each->granted.at; });
  const auto last_of = [&](std::int64_t Hold::*when) {
    std::int64_t last = 0;
    for (const Hold* each : users) last = std::max(last, each->*when == 0 ? INT64_MAX : each->*when);
    return last == INT64_MAX ? 0 : last;  // one of them has not come to it
  };
  Hold all = *users.back();
  all.granted = users.front()->granted;
  all.releasing_at = last_of(&Hold::releasing_at);
  all.released_at = last_of(&Hold::released_at);
  return all;
}

}  // namespace

void Evidence::index_holds() {
  std::map<std::int64_t, std::vector<const Hold*>> users_of;
  for (const auto& [key, hold] : grants) users_of[std::get<2>(key)].push_back(&hold);
  for (auto& [node, some] : users_of) holds[node] = merge(std::move(some));
}

/// A permit keeps out those that are made after it in its directory, where there is one permit.
void Evidence::index_wanted() {
  std::map<std::string, std::vector<const Node*>> in_directories;  // that are there
  const auto note = [this](const Node& ahead, const Node& node) {
    const bool may_go_again = ahead.place.kind == LockKind::read && node.removed != 0;
    const Interval when{std::max(ahead.created_at, node.created_at), may_go_again ? node.removed_at : INT64_MAX};
    wanted[ahead.created].push_back({when, ahead.session != node.session});
  };
  for (const auto& [token, node] : history.nodes()) {
    if (!is_kept(node.directory)) continue;
    for (const std::int64_t each : node.behind)
      if (const Node* ahead = history.find(each)) note(*ahead, node);
    if (node.place.kind != LockKind::permit) continue;
    auto& there = in_directories[node.directory];
    std::erase_if(there, [&](const Node* each) { return each->removed != 0 && each->removed <= token; });
    for (const Node* each : there) each->place.sequence < node.place.sequence ? note(*each, node) : note(node, *each);
    there.push_back(&node);
  }
}

}  // namespace zklock::chaos

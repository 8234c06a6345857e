#include "lives.hpp"

#include "layout.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace zklock::chaos {
namespace {

bool is_followed(const std::string& path) {
  constexpr std::array<std::string_view, 4> roots{kept_root, group_root, tree_root, counts_root};
  return path == tree_root || std::ranges::any_of(roots, [&](std::string_view root) {
           return path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/';
         });
}

}  // namespace

Lives::Lives(const std::vector<ServerTransaction>& transactions) {
  for (const ServerTransaction& each : transactions) {
    auto& last = last_requests_[each.session];
    const bool came_late = each.request != 0 && each.request < last;
    last = std::max(last, each.request);
    if (each.closes_session)
      if (const auto mine = ephemerals_.extract(each.session))
        for (const std::string& path : mine.mapped()) remove(each, path);
    for (const Change& change : each.changes) {
      if (!is_followed(change.path)) continue;
      if (change.kind == Change::Kind::create) create(each, change, came_late);
      if (change.kind == Change::Kind::remove) remove(each, change.path);
      if (Life* life = alive(change.path); life && change.kind == Change::Kind::set_data)
        life->versions.push_back({each.zxid, each.at, change.data});
    }
  }
}

const std::vector<Life>& Lives::of(const std::string& path) const {
  static const std::vector<Life> none;
  const auto found = all_.find(path);
  return found == all_.end() ? none : found->second;
}

const Life* Lives::find(const std::string& path, std::int64_t created) const {
  const auto& lives = of(path);
  const auto found = std::ranges::find(lives, created, &Life::created);
  return found == lives.end() ? nullptr : &*found;
}

void Lives::create(const ServerTransaction& transaction, const Change& change, bool came_late) {
  all_[change.path].push_back({.owner = change.is_ephemeral ? transaction.session : 0,
                               .versions = {{transaction.zxid, transaction.at, change.data}},
                               .came_late = came_late});
  if (change.is_ephemeral) ephemerals_[transaction.session].push_back(change.path);
}

void Lives::remove(const ServerTransaction& transaction, const std::string& path) {
  Life* life = alive(path);
  if (!life) return;
  life->removed = transaction.zxid;
  life->removed_at = transaction.at;
  if (const auto owned = ephemerals_.find(life->owner); owned != ephemerals_.end()) std::erase(owned->second, path);
}

Life* Lives::alive(const std::string& path) {
  const auto found = all_.find(path);
  const bool is_there = found != all_.end() && found->second.back().removed == INT64_MAX;
  return is_there ? &found->second.back() : nullptr;
}

}  // namespace zklock::chaos

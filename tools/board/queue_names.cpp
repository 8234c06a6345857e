#include "queue_names.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/locks/lock_node.hpp>

#include <algorithm>
#include <charconv>
#include <tuple>

namespace zklock::tools {
namespace {

/// Whether the name begins as that of an attempt's node: a directory is never named so.
bool has_protection(std::string_view name) { return name.starts_with("_c_"); }

bool looks_like_lock_node(std::string_view name) {
  const auto kind = find_lock_marker(name);
  return kind && *kind != LockKind::permit;
}

std::int32_t number_behind(std::string_view name, std::string_view marker) {
  const std::string_view digits = name.substr(name.rfind(marker) + marker.size());
  std::int32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

QueueName describe(const std::string& name, QueueKind queue) {
  if (queue == QueueKind::kazoo) {
    const std::string_view read = marker_of(LockKind::read, LockNaming::kazoo);
    const LockKind kind = name.find(read) != std::string::npos ? LockKind::read : LockKind::write;
    return {name, kind, number_behind(name, marker_of(kind, LockNaming::kazoo))};
  }
  const auto node = parse_lock_node(name);
  return {name, node ? node->kind : LockKind::permit, node ? node->sequence : 0};
}

/// Equal numbers, which only a wrapped counter or a downgrade can give, are ordered by name, as the locks do it.
auto rank(const QueueName& one) { return std::tuple{one.sequence, std::string_view{one.name}, one.kind}; }

}  // namespace

SortedNames sort_names(const std::string& directory, const std::vector<std::string>& names) {
  SortedNames sorted;
  for (const std::string& name : names) {
    const auto kind = queue_kind_of(join_path(directory, name));
    const bool looks_like_one = looks_like_lock_node(name);
    sorted.has_lock = sorted.has_lock || kind || (looks_like_one && has_protection(name));
    if (kind)
      sorted.queues[*kind].push_back(describe(name, *kind));
    else
      (looks_like_one ? sorted.malformed : sorted.foreign).push_back(name);
  }
  if (const auto permits = sorted.queues.find(QueueKind::permit); permits != sorted.queues.end()) {
    for (const auto* others : {&sorted.malformed, &sorted.foreign})
      for (const std::string& name : *others) permits->second.push_back({name, LockKind::permit, 0});
    sorted.malformed.clear();
    sorted.foreign.clear();
  }
  for (auto& [kind, queue] : sorted.queues) std::ranges::sort(queue, {}, rank);
  return sorted;
}

bool may_be_directory(const std::string& directory, std::string_view name) {
  return !has_protection(name) && !queue_kind_of(join_path(directory, name));
}

}  // namespace zklock::tools

// The nodes of leaders, groups and shared values: any client may create them, with any name and any data.
#include "check.hpp"
#include "count_data.hpp"
#include "priority.hpp"
#include "queue_position.hpp"
#include "sequence_number.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/nodes/share.hpp>

#include <algorithm>
#include <cstddef>

using namespace zklock;
using fuzz::check;

namespace {

using Names = std::vector<std::string>;

void check_count(std::string_view data) {
  const auto count = parse_count(data);
  check(count.has_value() == (data.size() == 4), "a count is four bytes");
  if (count) check(format_count(*count) == data, "a count is written as it was read");
}

void check_candidates(const Names& names, LockKind kind, LockNaming naming) {
  const auto queue = in_queue_order(names, kind, naming);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const QueuePosition position = find_position(names, queue[i].name, kind, naming);
    check(position.predecessor == (i == 0 ? "" : queue[i - 1].name), "each candidate waits for the one ahead of it");
    check((position.verdict == QueuePosition::Verdict::first) == (i == 0), "one candidate leads");
  }
}

void check_priority(const std::string& name) {
  const int priority = priority_of(name);
  check(priority >= lowest_priority && priority <= 999, "a priority has three digits");
  const std::string marker{marker_of(LockKind::latch)};
  const int other = static_cast<int>(name.size()) % 1000;
  check(priority_of(name + "-" + priority_prefix(other) + marker + format_sequence(7)) == other,
        "a priority is read as it was written");
}

/// The first candidate goes to the end as long as it should.
void check_stepping_back(Names names) {
  std::int32_t last = 0;
  for (const QueueEntry& each : in_queue_order(names, LockKind::latch)) last = std::max(last, each.sequence);
  if (last > last_safe_sequence) return;
  const std::string_view marker = marker_of(LockKind::latch);
  for (std::size_t steps = 0;; ++steps) {
    const auto queue = in_queue_order(names, LockKind::latch);
    if (queue.empty() || !should_step_back(names, queue.front().name)) return;
    check(steps < queue.size(), "each candidate steps back once at most");
    std::string again = queue.front().name;
    std::erase(names, again);
    again.resize(again.rfind(marker) + marker.size());
    names.push_back(again + format_sequence(++last));
  }
}

void check_shares(const Names& items, Names members) {
  const auto shares = share(items, members);
  std::size_t shared = 0;
  for (const auto& [member, own] : shares) shared += own.size();
  check(shared == (members.empty() ? 0 : items.size()), "each item has one owner");
  if (members.empty()) return;
  const Names all = members;
  const std::string gone = members.back();
  members.pop_back();
  for (const std::string& item : items) {
    const std::string before = share_owner(item, all);
    if (before != gone) check(share_owner(item, members) == before, "only the items of the one that goes move");
  }
}

}  // namespace

/// The data, then the children, one a line.
void fuzz_one(std::string_view input) {
  if (input.size() > 4096) return;
  Names names = fuzz::split(input, '\n');
  check_count(names.front());
  names.erase(names.begin());
  std::erase_if(names, [](const std::string& name) { return name.empty() || name.find('/') != std::string::npos; });
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    check(node_name(join_path("/group", name)) == name, "a member's name is its node's");
    check_priority(name);
  }
  check_candidates(names, LockKind::latch, LockNaming::curator);
  check_candidates(names, LockKind::mutex, LockNaming::curator);
  check_candidates(names, LockKind::mutex, LockNaming::kazoo);
  check_stepping_back(names);
  const auto middle = names.begin() + static_cast<std::ptrdiff_t>(names.size() / 2);
  check_shares({names.begin(), middle}, {middle, names.end()});
}

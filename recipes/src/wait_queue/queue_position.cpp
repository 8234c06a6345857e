#include "queue_position.hpp"

#include "queue_kind.hpp"
#include "sequence_number.hpp"

#include <algorithm>
#include <compare>
#include <utility>

namespace zklock {

namespace {

/// Orders by sequence number. Equal numbers, which only a wrapped counter or a downgrade can give, are ordered by name,
/// so that all clients see the same order.
struct Rank {
  std::int32_t sequence;
  std::string_view name;
  LockKind kind;
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

std::optional<Rank> rank_in_queue(std::string_view name, LockKind queue, LockNaming naming) {
  const auto rank_as = [&](LockKind kind) {
    const auto sequence = parse_sequence(name, marker_of(kind, naming));
    return sequence ? std::optional<Rank>{{*sequence, name, kind}} : std::nullopt;
  };
  if (!is_same_queue(queue, LockKind::write)) return rank_as(queue);
  const auto read = rank_as(LockKind::read);
  return read ? read : rank_as(LockKind::write);
}

bool is_of_other_kind(std::string_view name, LockKind kind) {
  if (parse_sequence(name, marker_of(LockKind::latch))) return kind != LockKind::latch;
  const auto node = parse_lock_node(name);
  return node && node->kind != LockKind::permit && !is_same_queue(node->kind, kind);
}

}  // namespace

QueuePosition find_position(const std::vector<std::string>& children, std::string_view own_name, LockKind kind,
                            LockNaming naming) {
  const std::optional<Rank> own = rank_in_queue(own_name, kind, naming);
  if (!own || own->kind != kind) return {};
  bool present = false;
  int ahead = 0;
  std::optional<Rank> nearest;
  QueuePosition result;
  for (const std::string& child : children) {
    const std::optional<Rank> rank = rank_in_queue(child, kind, naming);
    if (!rank && naming == LockNaming::curator && is_of_other_kind(child, kind)) result.of_other_kind = child;
    if (!rank) continue;
    if (*rank == *own) present = true;
    if (!(*rank < *own) || !exclude_each_other(rank->kind, kind)) continue;
    ++ahead;
    if (!nearest || *nearest < *rank) nearest = rank;
  }
  if (!present) return result;
  result.verdict = nearest ? QueuePosition::Verdict::behind : QueuePosition::Verdict::first;
  if (!nearest) return result;
  const bool may_leave_a_reader = nearest->kind == LockKind::write && kind == LockKind::write;
  result.predecessor = nearest->name;
  result.predecessor_sequence = nearest->sequence;
  result.only_predecessor = ahead == 1 && !may_leave_a_reader;
  return result;
}

/// A reader that had the lock had no writer ahead, which tells a reader all, and a writer nothing. A writer that leaves
/// while the new node is being made may leave a reader of its owner behind, with its own number.
PositionByNumber position_behind(const AheadState& ahead, LockKind kind) noexcept {
  if (kind == LockKind::read && ahead.kind == LockKind::read) {
    if (ahead.was_granted) return PositionByNumber::first;
    return ahead.is_present && ahead.waits_for_local ? PositionByNumber::behind_its_writer : PositionByNumber::unknown;
  }
  if (ahead.is_present) return PositionByNumber::behind;
  if (!ahead.was_granted || ahead.kind == LockKind::read) return PositionByNumber::unknown;
  const bool may_leave_a_reader = ahead.kind == LockKind::write && kind == LockKind::write && ahead.has_left_since;
  return may_leave_a_reader ? PositionByNumber::unknown : PositionByNumber::first;
}

std::string find_last_blocking(const std::vector<std::string>& children, LockKind kind, LockNaming naming) {
  std::optional<Rank> last;
  for (const std::string& child : children)
    if (const auto rank = rank_in_queue(child, kind, naming); rank && exclude_each_other(rank->kind, kind))
      if (!last || *last < *rank) last = rank;
  return last ? std::string{last->name} : std::string{};
}

std::vector<QueueEntry> in_queue_order(const std::vector<std::string>& children, LockKind kind, LockNaming naming) {
  std::vector<Rank> ranks;
  for (const std::string& child : children)
    if (const auto rank = rank_in_queue(child, kind, naming)) ranks.push_back(*rank);
  std::sort(ranks.begin(), ranks.end());
  std::vector<QueueEntry> queue;
  for (const Rank& rank : ranks) queue.push_back({std::string{rank.name}, rank.kind, rank.sequence});
  return queue;
}

bool has_no_writer(const std::vector<std::string>& children, LockNaming naming) {
  return find_last_blocking(children, LockKind::read, naming).empty();
}

}  // namespace zklock

#include "contention.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

namespace zklock {

std::string_view to_string(LockKind kind) noexcept {
  switch (kind) {
    case LockKind::mutex: return "mutex";
    case LockKind::read: return "read";
    case LockKind::write: return "write";
    case LockKind::permit: return "permit";
  }
  return "unknown";
}

std::string_view marker_of(LockKind kind, LockNaming naming) noexcept {
  if (naming == LockNaming::kazoo && kind != LockKind::permit) return kind == LockKind::read ? "__rlock__" : "__lock__";
  switch (kind) {
    case LockKind::mutex: return "lock-";
    case LockKind::read: return "__READ__";
    case LockKind::write: return "__WRIT__";
    case LockKind::permit: return "lease-";
  }
  return {};
}

std::string format_sequence(std::int32_t sequence) {
  std::array<char, 16> text{};
  const int length = std::snprintf(text.data(), text.size(), "%010d", sequence);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::optional<std::int32_t> parse_sequence(std::string_view name, std::string_view marker) noexcept {
  const auto at = name.rfind(marker);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view number = name.substr(at + marker.size());
  std::int32_t sequence = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), sequence).ec != std::errc{}) return std::nullopt;
  if (number != format_sequence(sequence)) return std::nullopt;
  return sequence;
}

namespace {

/// Order by sequence; equal ones, which only a wrapped counter or a downgrade can give, by name so that all see the
/// same order.
struct Rank {
  std::int32_t sequence;
  std::string_view name;
  LockKind kind;
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

std::optional<Rank> rank_in_line(std::string_view name, LockKind line, LockNaming naming) {
  const auto rank_as = [&](LockKind kind) {
    const auto sequence = parse_sequence(name, marker_of(kind, naming));
    return sequence ? std::optional<Rank>{{*sequence, name, kind}} : std::nullopt;
  };
  if (line == LockKind::mutex || line == LockKind::permit) return rank_as(line);
  const auto read = rank_as(LockKind::read);
  return read ? read : rank_as(LockKind::write);
}

bool keeps_out(LockKind ahead, LockKind behind) { return ahead != LockKind::read || behind != LockKind::read; }

bool is_of_other_kind(std::string_view name, LockKind kind) {
  const auto node = parse_lock_node(name);
  return node && node->kind != LockKind::permit && (node->kind == LockKind::mutex) != (kind == LockKind::mutex);
}

}  // namespace

Contention contend(const std::vector<std::string>& children, std::string_view own_name, LockKind kind,
                   LockNaming naming) {
  const std::optional<Rank> own = rank_in_line(own_name, kind, naming);
  if (!own || own->kind != kind) return {};
  bool present = false;
  int ahead = 0;
  std::optional<Rank> nearest;
  Contention result;
  for (const std::string& child : children) {
    const std::optional<Rank> rank = rank_in_line(child, kind, naming);
    if (!rank && naming == LockNaming::curator && is_of_other_kind(child, kind)) result.of_other_kind = child;
    if (!rank) continue;
    if (*rank == *own) present = true;
    if (!(*rank < *own) || !keeps_out(rank->kind, kind)) continue;
    ++ahead;
    if (!nearest || *nearest < *rank) nearest = rank;
  }
  if (!present) return result;
  result.verdict = nearest ? Contention::Verdict::behind : Contention::Verdict::first;
  if (!nearest) return result;
  const bool may_leave_a_reader = nearest->kind == LockKind::write && kind == LockKind::write;
  result.predecessor = nearest->name;
  result.predecessors_number = nearest->sequence;
  result.is_last_obstacle = ahead == 1 && !may_leave_a_reader;
  return result;
}

std::vector<InLine> line_up(const std::vector<std::string>& children, LockKind kind, LockNaming naming) {
  std::vector<Rank> ranks;
  for (const std::string& child : children)
    if (const auto rank = rank_in_line(child, kind, naming)) ranks.push_back(*rank);
  std::sort(ranks.begin(), ranks.end());
  std::vector<InLine> line;
  for (const Rank& rank : ranks) line.push_back({std::string{rank.name}, rank.kind, rank.sequence});
  return line;
}

}  // namespace zklock

// The children of a lock's directory: any client may create nodes there, with any name.
#include "queue_position.hpp"

#include "check.hpp"
#include "sequence_number.hpp"

#include <algorithm>
#include <cinttypes>
#include <optional>

using namespace zklock;
using fuzz::check;

namespace {

constexpr LockKind kinds[] = {LockKind::mutex, LockKind::read, LockKind::write};

std::string format(std::int32_t sequence) {
  char text[16];
  std::snprintf(text, sizeof text, "%010" PRId32, sequence);
  return text;
}

std::optional<QueueEntry> place_of(const std::string& name, LockKind line) {
  auto alone = in_queue_order({name}, line);
  return alone.empty() ? std::nullopt : std::optional{alone.front()};
}

bool is_ahead(const QueueEntry& one, const QueueEntry& other) {
  return one.sequence != other.sequence ? one.sequence < other.sequence : one.name < other.name;
}

void check_sequence(const std::string& name, std::string_view marker) {
  if (const auto sequence = parse_sequence(name, marker))
    check(name.ends_with(std::string{marker} + format(*sequence)), "a sequence number is what the server writes");
  std::uint32_t number = 0;
  for (const char byte : name) number = number * 31 + static_cast<unsigned char>(byte);
  const auto sequence = static_cast<std::int32_t>(number);
  check(parse_sequence(name + std::string{marker} + format(sequence), marker) == sequence,
        "what the server writes is a sequence number");
}

void check_contention(const std::vector<std::string>& children, const std::string& own_name, LockKind kind) {
  const QueuePosition position = find_position(children, own_name, kind);
  const auto own = place_of(own_name, kind);
  const bool present = std::ranges::count(children, own_name) > 0 && own && own->kind == kind;
  check(present == (position.verdict != QueuePosition::Verdict::missing), "a node that is not in the list is missing");
  check((position.verdict == QueuePosition::Verdict::behind) != position.predecessor.empty(),
        "who is behind, and nobody else, has a predecessor");
  if (!present) return;
  std::vector<std::string> ahead;  // the nodes that block this one, in the order of the queue
  for (const QueueEntry& other : in_queue_order(children, kind))
    if (is_ahead(other, *own) && !(kind == LockKind::read && other.kind == LockKind::read)) ahead.push_back(other.name);
  check(position.predecessor == (ahead.empty() ? "" : ahead.back()),
        "a predecessor is the nearest one who keeps us out");
}

}  // namespace

/// The input is the kind's number, then the children, one a line. The first child is the attempt's own.
void fuzz_one(std::string_view input) {
  if (input.empty() || input.size() > 4096) return;
  const LockKind kind = kinds[static_cast<unsigned char>(input.front()) % std::size(kinds)];
  std::vector<std::string> children = fuzz::split(input.substr(1), '\n');
  const std::string own = children.front();
  for (const std::string& child : children) check_sequence(child, marker_of(kind));

  std::ranges::sort(children);
  children.erase(std::unique(children.begin(), children.end()), children.end());
  if (input.front() & 0x40) std::erase(children, own);
  const std::vector<QueueEntry> line = in_queue_order(children, kind);
  check(std::ranges::is_sorted(line, is_ahead), "a line is in order");
  for (const std::string& child : children) {
    const bool contends = place_of(child, kind).has_value();
    check(std::ranges::count(line, child, &QueueEntry::name) == (contends ? 1 : 0),
          "contenders, and nobody else, are in line");
  }
  if (kind == LockKind::mutex)
    for (std::size_t i = 0; i < line.size(); ++i)
      check(find_position(children, line[i].name, kind).predecessor == (i == 0 ? "" : line[i - 1].name),
            "the line is one chain");

  check_contention(children, own, kind);
  std::ranges::reverse(children);
  check_contention(children, own, kind);
}

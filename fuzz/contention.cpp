// The children of a lock's directory: anybody may make nodes there, with any name.
#include "contention.hpp"

#include "check.hpp"

#include <algorithm>
#include <cinttypes>

using namespace zklock;
using fuzz::check;

namespace {

constexpr std::string_view markers[] = {mutex_marker, "__READ__", "__WRIT__", "x"};

std::string format(std::int32_t sequence) {
  char text[16];
  std::snprintf(text, sizeof text, "%010" PRId32, sequence);
  return text;
}

/// The order of the line.
bool is_ahead(const std::string& one, const std::string& other, std::string_view marker) {
  const std::int32_t first = parse_sequence(one, marker).value();
  const std::int32_t second = parse_sequence(other, marker).value();
  return first != second ? first < second : one < other;
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

void check_contention(const std::vector<std::string>& children, const std::string& own, std::string_view marker) {
  const Contention contention = contend(children, own, marker);
  const bool present = std::ranges::count(children, own) > 0 && parse_sequence(own, marker);
  check(present == (contention.verdict != Contention::Verdict::missing), "who is not in the list is missing");
  check((contention.verdict == Contention::Verdict::behind) != contention.predecessor.empty(),
        "who is behind, and nobody else, has a predecessor");
  if (!present) return;
  std::ptrdiff_t ahead = 0;
  std::ptrdiff_t ahead_of_predecessor = 0;
  for (const std::string& child : children) {
    if (!parse_sequence(child, marker)) continue;
    ahead += is_ahead(child, own, marker);
    if (!contention.predecessor.empty()) ahead_of_predecessor += is_ahead(child, contention.predecessor, marker);
  }
  if (contention.verdict == Contention::Verdict::first) return check(ahead == 0, "nobody is ahead of the first");
  check(std::ranges::count(children, contention.predecessor) == 1, "a predecessor is a child");
  check(is_ahead(contention.predecessor, own, marker), "a predecessor is ahead");
  check(ahead == ahead_of_predecessor + 1, "nobody stands between it and us");
}

}  // namespace

/// The marker's number, then the children, a line each. The first one is our own.
void fuzz_one(std::string_view input) {
  if (input.empty() || input.size() > 4096) return;
  const std::string_view marker = markers[static_cast<unsigned char>(input.front()) % std::size(markers)];
  std::vector<std::string> children = fuzz::split(input.substr(1), '\n');
  const std::string own = children.front();
  for (const std::string& child : children) check_sequence(child, marker);

  std::ranges::sort(children);
  children.erase(std::unique(children.begin(), children.end()), children.end());
  if (input.front() & 0x40) std::erase(children, own);
  const std::vector<std::string> line = line_up(children, marker);
  check(std::ranges::is_sorted(line, [&](auto& one, auto& other) { return is_ahead(one, other, marker); }),
        "a line is in order");
  for (const std::string& child : children) {
    const bool contends = parse_sequence(child, marker).has_value();
    check(std::ranges::count(line, child) == (contends ? 1 : 0), "contenders, and nobody else, are in line");
  }
  for (std::size_t i = 0; i < line.size(); ++i)
    check(contend(children, line[i], marker).predecessor == (i == 0 ? "" : line[i - 1]), "the line is one chain");

  check_contention(children, own, marker);
  std::ranges::reverse(children);
  check_contention(children, own, marker);
}

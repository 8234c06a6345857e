#include "contention.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

namespace zklock {

std::optional<std::int32_t> parse_sequence(std::string_view name, std::string_view marker) noexcept {
  const auto at = name.rfind(marker);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view number = name.substr(at + marker.size());
  std::int32_t sequence = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), sequence).ec != std::errc{}) return std::nullopt;
  std::array<char, 16> as_server_writes{};
  const int length = std::snprintf(as_server_writes.data(), as_server_writes.size(), "%010d", sequence);
  if (number != std::string_view{as_server_writes.data(), static_cast<std::size_t>(length)}) return std::nullopt;
  return sequence;
}

namespace {

/// Order by sequence; equal ones, which only a wrapped counter can give, by name so that all see the same order.
using Rank = std::pair<std::int32_t, std::string_view>;

std::optional<Rank> rank_of(std::string_view name, std::string_view marker) {
  const auto sequence = parse_sequence(name, marker);
  return sequence ? std::optional<Rank>{{*sequence, name}} : std::nullopt;
}

}  // namespace

Contention contend(const std::vector<std::string>& children, std::string_view own_name, std::string_view marker) {
  const std::optional<Rank> own = rank_of(own_name, marker);
  if (!own) return {};
  bool present = false;
  std::optional<Rank> nearest;
  for (const std::string& child : children) {
    const std::optional<Rank> rank = rank_of(child, marker);
    if (!rank) continue;
    if (*rank == *own) present = true;
    if (*rank < *own && (!nearest || *nearest < *rank)) nearest = rank;
  }
  if (!present) return {};
  if (!nearest) return {Contention::Verdict::first};
  return {Contention::Verdict::behind, std::string{nearest->second}};
}

std::vector<std::string> line_up(const std::vector<std::string>& children, std::string_view marker) {
  std::vector<Rank> ranks;
  for (const std::string& child : children)
    if (const auto rank = rank_of(child, marker)) ranks.push_back(*rank);
  std::sort(ranks.begin(), ranks.end());
  std::vector<std::string> line;
  for (const Rank& rank : ranks) line.emplace_back(rank.second);
  return line;
}

}  // namespace zklock

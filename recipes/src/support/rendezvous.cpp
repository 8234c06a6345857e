#include <zklock/recipes/locks/rendezvous.hpp>

#include <algorithm>

namespace zklock {

namespace {

std::uint64_t fnv1a(std::uint64_t hash, std::string_view bytes) noexcept {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return hash;
}

/// The number that SplitMix64 makes of its state; without it, hashes of similar names would be similar.
std::uint64_t mixed(std::uint64_t state) noexcept {
  state = (state ^ (state >> 30U)) * 0xbf58476d1ce4e5b9U;
  state = (state ^ (state >> 27U)) * 0x94d049bb133111ebU;
  return state ^ (state >> 31U);
}

}  // namespace

std::uint64_t rendezvous_hash(std::string_view candidate, std::string_view name) noexcept {
  using namespace std::string_view_literals;
  return fnv1a(fnv1a(fnv1a(0xcbf29ce484222325U, candidate), "\0"sv), name);
}

std::uint64_t rendezvous_score(const RendezvousCandidate& candidate, std::string_view name) noexcept {
  std::uint64_t state = rendezvous_hash(candidate.name, name);
  std::uint64_t greatest = 0;
  for (std::uint32_t i = 0; i < candidate.weight; ++i)
    greatest = std::max(greatest, mixed(state += 0x9e3779b97f4a7c15U));
  return greatest;
}

std::size_t choose_by_rendezvous(std::span<const RendezvousCandidate> candidates, std::string_view name) noexcept {
  std::size_t best = 0;
  std::uint64_t best_score = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::uint64_t score = rendezvous_score(candidates[i], name);
    if (i > 0 && (score < best_score || (score == best_score && candidates[i].name >= candidates[best].name))) continue;
    best = i;
    best_score = score;
  }
  return best;
}

}  // namespace zklock

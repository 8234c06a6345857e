// Which of several ensembles has a name: the same answer in every process, in any language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace zklock {

/// An ensemble that may be chosen. Its name, not its servers, decides which names it has.
struct RendezvousCandidate {
  std::string_view name;
  std::uint32_t weight = 1;  ///< its share of the names, in proportion to the weights of the others
};

/// The FNV-1a hash of 64 bits (draft-eastlake-fnv) of `candidate`, a byte 0, and `name`.
[[nodiscard]] std::uint64_t rendezvous_hash(std::string_view candidate, std::string_view name) noexcept;

/// The greatest of the first `weight` numbers of SplitMix64 (Java's SplittableRandom) with rendezvous_hash() as its
/// seed; 0 for a weight of 0. Integers alone, so that no rounding lets two processes disagree.
[[nodiscard]] std::uint64_t rendezvous_score(const RendezvousCandidate& candidate, std::string_view name) noexcept;

/// Rendezvous hashing (highest random weight; Thaler and Ravishankar, 1998): the index of the candidate with the
/// greatest score; of several such candidates, of the one whose name is the first in the order of bytes. The order of
/// the candidates does not matter. When a candidate is added, or its weight is raised, names move to it, and no name
/// moves elsewhere; when it is removed, or its weight is lowered, only names that it had move.
///
/// This function never changes: processes that run different versions of zklock must agree. docs/scaling.md has it in
/// words, with test vectors. `candidates` must not be empty.
[[nodiscard]] std::size_t choose_by_rendezvous(std::span<const RendezvousCandidate> candidates,
                                               std::string_view name) noexcept;

}  // namespace zklock

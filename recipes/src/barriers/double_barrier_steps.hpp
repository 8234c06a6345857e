// What a member of a double barrier does next. test/models/double_barrier.py has the same steps, and shows by all their
// orders that they keep the promises.
#pragma once

#include <zklock/stat.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zklock {

/// The node that opens a round, beside those of the members. Its mzxid is the round's number.
inline constexpr const char* ready_name = "ready";

/// The round that a member is in.
struct BarrierRound {
  /// A round whose `ready` another recipe's member had deleted before its number was read: everyone is of it.
  static constexpr std::int64_t unknown = INT64_MAX;

  std::int64_t number = 0;
  bool joined_late = false;
};

enum class EntryStep {
  in,    ///< `ready` is younger than the own node: it has counted this member
  look,  ///< it is older: join a member that it has counted; if there is none, it is left over
  open,  ///< enough are there
  wait   ///< for `ready`
};

/// `own`: the own node's czxid. `counted`: the members that a list has shown, without those that were found to be gone.
[[nodiscard]] EntryStep entry_step(const std::optional<Stat>& ready, std::int64_t own, std::size_t counted,
                                   std::size_t quantity);
/// The same when nobody is there that an older `ready` has counted.
[[nodiscard]] EntryStep entry_step_at_left_over(std::size_t counted, std::size_t quantity);

/// Whether the older `ready` has counted that member, and it has not withdrawn or joined late.
[[nodiscard]] bool is_joinable(const Stat& member, const Stat& ready);

/// The round that has counted a member before it withdrew, if one has. `own` is its node afterwards.
[[nodiscard]] std::optional<BarrierRound> round_before(const Stat& own, const std::optional<Stat>& ready);

/// Whether that member is of the round: leaving members wait for it.
[[nodiscard]] bool is_of_round(const Stat& member, const BarrierRound& round);
/// Whether a member that is alone deletes `ready`, too.
[[nodiscard]] bool is_of_round(const std::optional<Stat>& ready, const BarrierRound& round);

/// The names of the members among the children, in their order.
[[nodiscard]] std::vector<std::string> members_of(std::vector<std::string> children);

}  // namespace zklock

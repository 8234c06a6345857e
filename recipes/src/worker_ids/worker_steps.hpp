// What a worker id's node says, and what its owner does by that. test/models/worker_id.py has the same steps, and shows by
// all their orders that no time stamp is used twice.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

/// What last/<n> says: the owner may use time stamps up to `end`, exclusive; all of them count as used afterwards.
/// Milliseconds since 1970.
struct LastUse {
  static constexpr std::int32_t absent = -1;
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  std::int64_t end = 0;
  std::string owner{};
  std::int32_t version = absent;
};

/// last/<n>, and the owner that ids/<n> names; empty: the number is free.
struct NumberSeen {
  LastUse last{};
  std::string holder{};
};

enum class WorkerWrite { acquire, extend, release };

/// What has come of a write whose reply was lost, or that was refused.
enum class WorkerOutcome {
  again,  ///< not done
  done,
  lost  ///< the number is another's, or free
};

/// `version`: that of last/<n> over which it was written.
[[nodiscard]] WorkerOutcome outcome_of_write(WorkerWrite write, const NumberSeen& seen, std::string_view owner,
                                             std::int32_t version);

[[nodiscard]] std::string encode(const LastUse& last);
/// What is no such record keeps its number from being used: its end never comes.
[[nodiscard]] LastUse decode_last_use(std::string_view data, std::int32_t version);

/// The numbers below `count` that are not among the names.
[[nodiscard]] std::vector<int> free_numbers(const std::vector<std::string>& taken, int count);

}  // namespace zklock

// What a slot of the ledger says, and what follows from it: docs/transactions.md, test/models/ledger.py.
#pragma once

#include <zklock/clock.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zklock::detail {

/// When a slot or a key may be swept: no operation whose outcome is unknown is older, or else it fails with an ambiguous
/// error.
inline constexpr std::chrono::hours slot_lifetime{24};
inline constexpr std::chrono::hours key_lifetime{24 * 7};

/// A slot's data after a transaction, and after one that was given up. The number is that of the slot's version.
[[nodiscard]] std::string done_mark(std::int32_t base);
[[nodiscard]] std::string void_mark(std::int32_t base);

/// A node of the slot as it was read after a sync.
struct SeenSlot {
  std::int32_t version = 0;
  std::string data{};
};

/// What is known of a transaction, sent from version `base` of its slot, some of whose replies were lost.
enum class AfterLoss {
  done,       ///< it was carried out
  is_void,    ///< it was given up, and will never be carried out
  again,      ///< it was not carried out so far: the same request again is safe
  elsewhere,  ///< it was not carried out, and will never be: the slot is gone
  unknown     ///< nobody can tell
};
/// `seen` is empty if the slot does not exist. `age`: how long ago the transaction was first sent.
[[nodiscard]] AfterLoss after_loss(std::int32_t base, const std::optional<SeenSlot>& seen, Clock::duration age);

/// The name of a key's node.
[[nodiscard]] std::string escaped(std::string_view name);

}  // namespace zklock::detail

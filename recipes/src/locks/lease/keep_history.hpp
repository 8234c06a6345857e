// Whether an acquire should keep its lock: a guess by those before it, without I/O.
#pragma once

#include <cstdint>

namespace zklock::detail {

/// Whether an acquire that makes a node may keep it, if the node is the only one in the queue.
enum class KeepChance : std::uint8_t {
  none,         ///< it does not look
  if_adjacent,  ///< if no other client has made a node since the client's last one, either
  sure,         ///< whatever came between
};

[[nodiscard]] constexpr bool may_keep(KeepChance chance, bool is_adjacent) noexcept {
  return chance == KeepChance::sure || (chance == KeepChance::if_adjacent && is_adjacent);
}

/// What the acquires of a client on one path tell of the next one. A kept lock costs another client an event and a
/// delete before it gets it, so clients that take turns do not keep it. A client keeps it
///   - where two acquires in a row had nobody between; or
///   - where the last kept node, which was kept for that reason, was granted often. If another client has asked for it
///     since, the next acquire may find that one still in the queue, and so the one after it may keep, too. Not so the
///     second time: a client that tries now and then has most chances while the lock is not kept.
/// Exclusion does not rest on this, but on the list and the watch with which a node is kept.
class KeepHistory {
 public:
  static constexpr int enough_grants = 8;
  static constexpr int max_chances = 2;

  /// The chance of the acquire that makes a node now.
  [[nodiscard]] KeepChance take_chance() noexcept {
    if (chances_ == 0) return is_alone_ ? KeepChance::if_adjacent : KeepChance::none;
    --chances_;
    return KeepChance::sure;
  }
  /// An acquire has made a node: with the number after that of the client's last one, or with another.
  void on_enqueued(bool is_adjacent) noexcept { is_alone_ = is_adjacent; }
  /// Another client is in the queue.
  void on_stranger() noexcept { is_alone_ = false; }
  /// The client's last node had nobody between it and the one before.
  [[nodiscard]] bool is_alone() const noexcept { return is_alone_; }

  /// A node is kept from now on, by that chance.
  void on_kept(KeepChance chance) noexcept { counts_ = chance == KeepChance::if_adjacent; }
  /// A kept node is granted once more.
  void on_granted() noexcept { grants_ += grants_ < enough_grants ? 1 : 0; }
  /// It is kept no longer.
  void on_given_up() noexcept {
    chances_ = counts_ && grants_ == enough_grants ? max_chances : 0;
    grants_ = 0;
  }

 private:
  bool is_alone_ = false;
  bool counts_ = false;  // the keeping: by its grants the next one may begin at once
  int grants_ = 0;       // of the node that is kept
  int chances_ = 0;
};

}  // namespace zklock::detail

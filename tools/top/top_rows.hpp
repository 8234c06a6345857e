// The locks of a board as rows: pure decisions.
#pragma once

#include "lock_board.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::tools {

using WallTime = std::chrono::system_clock::time_point;

/// A lock, in words. An age is std::nullopt when there is no such client, or its node was not read.
struct TopRow {
  std::string path;
  std::string kind;
  std::size_t holders = 0;
  std::size_t waiting = 0;
  std::string holder;                             ///< the first one: its client, or session; empty: none
  bool is_asked = false;                          ///< the first holder was asked to release the lock
  std::optional<std::chrono::milliseconds> held;  ///< the age of the first holder's node
  std::optional<std::chrono::milliseconds> wait;  ///< the age of the first waiter's
  bool is_readable = true;
};

/// The age of the node by this machine's clock: never negative; std::nullopt for one that was not read.
[[nodiscard]] std::optional<std::chrono::milliseconds> age_of(const LockParticipant& one, WallTime now);

/// Its client, or its session; "?" for one that was not read.
[[nodiscard]] std::string name_of(const LockParticipant& one);

[[nodiscard]] TopRow row_of(const BoardLock& lock, WallTime now);

/// The locks that have all words of `filter` in their path, kind or first holder, whatever the case of their ASCII
/// letters. The longest wait comes first, then the oldest holder, then the name, as on the dashboard's page.
[[nodiscard]] std::vector<const BoardLock*> arrange(const LockBoard& board, std::string_view filter = {});

/// Whether the nodes of the first holder and the first waiter were read, or cannot be.
[[nodiscard]] bool is_complete(const BoardLock& lock) noexcept;

/// A table with a header, as `zklock ls` prints it.
[[nodiscard]] std::string to_table(const std::vector<TopRow>& rows);

// Lines of JSON.

/// `now` is the time of the line.
[[nodiscard]] std::string to_json(const TopRow& row, WallTime now);
[[nodiscard]] std::string gone_to_json(const std::string& path, WallTime now);
/// The link to ZooKeeper is lost or there again; `contact`: when something was read last.
[[nodiscard]] std::string link_to_json(bool connected, WallTime contact, WallTime now);
/// The base directory does not exist, or is there again.
[[nodiscard]] std::string base_to_json(const std::string& path, bool exists, WallTime now);

}  // namespace zklock::tools

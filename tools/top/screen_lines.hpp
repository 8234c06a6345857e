// The lines of `zklock top`'s screen: pure decisions.
#pragma once

#include "screen_model.hpp"

#include <string>
#include <vector>

namespace zklock::tools {

/// The moment as of which ages are shown: now, or the last contact while ZooKeeper is away.
[[nodiscard]] WallTime time_of(const TopView& view);

[[nodiscard]] ScreenLine blank_line(int columns);
/// The base, and how many locks, holders and waiters there are.
[[nodiscard]] ScreenLine title_line(const TopView& view, const std::string& base, int columns);
/// Whether what is shown is live, and if not, how old it is.
[[nodiscard]] ScreenLine state_line(const TopView& view, const std::string& base, int columns);
[[nodiscard]] ScreenLine heading_line(int columns);
/// The path is shown from the base on.
[[nodiscard]] ScreenLine lock_line(const TopRow& row, const std::string& base, int columns);
/// In place of the locks, where there are none.
[[nodiscard]] ScreenLine nothing_line(const TopView& view, bool is_filtered, int columns);
/// The holders and the waiters of a lock, and what was seen of it before; so many lines at most.
[[nodiscard]] std::vector<ScreenLine> queue_lines(const TopView& view, const std::string& lock, ScreenSize size);
/// What is wrong, in a third of the lines, and which client blocks which, in the others.
[[nodiscard]] std::vector<ScreenLine> blocking_lines(const TopView& view, ScreenSize size);
[[nodiscard]] std::vector<ScreenLine> help_lines(int columns);
/// The search, or the keys.
[[nodiscard]] ScreenLine foot_line(bool is_typing, const std::string& filter, int columns);

}  // namespace zklock::tools

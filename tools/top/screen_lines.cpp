#include "screen_lines.hpp"

#include "columns.hpp"
#include "counted.hpp"
#include "duration.hpp"
#include "printable.hpp"

#include <algorithm>
#include <utility>

namespace zklock::tools {
namespace {

using Look = ScreenLine::Look;

constexpr std::chrono::minutes long_wait{1};
constexpr int gap = 2;
constexpr int held_width = 7;
constexpr int holders_width = 4;
constexpr int waiting_width = 5;
constexpr int longest_width = 8;
constexpr int kind_width = 10;

/// How wide a lock's cells are; 0: left out.
struct Widths {
  int lock = 0;
  int kind = 0;
  int holder = 0;
};

Widths widths_for(int columns) {
  Widths widths;
  int rest = columns - held_width - holders_width - waiting_width - longest_width - 4 * gap;
  if (columns >= 64) {
    widths.kind = kind_width;
    rest -= kind_width + gap;
  }
  if (columns >= 50) {
    rest -= gap;
    widths.holder = rest * 9 / 20;
    rest -= widths.holder;
  }
  widths.lock = std::max(rest, 8);
  return widths;
}

struct Cells {
  std::string lock, kind, holder, held, holders, waiting, longest;
};

std::string line_of(const Cells& cells, int columns) {
  const Widths widths = widths_for(columns);
  const std::string space(gap, ' ');
  std::string text = fit(cells.lock, widths.lock);
  if (widths.kind > 0) text += space + fit(cells.kind, widths.kind);
  if (widths.holder > 0) text += space + fit(cells.holder, widths.holder);
  text += space + fit_right(cells.held, held_width) + space + fit_right(cells.holders, holders_width) + space +
          fit_right(cells.waiting, waiting_width) + space + fit_right(cells.longest, longest_width);
  return fit(text, columns);
}

std::string below(const std::string& base, const std::string& path) {
  const std::string prefix = base == "/" ? base : base + "/";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : path;
}

std::string holder_text(const TopRow& row) {
  if (row.holders == 0) return "free";
  std::string text = printable(row.holder);
  if (row.holders > 1) text += " +" + std::to_string(row.holders - 1);
  if (row.is_asked) text += " (asked)";
  return text;
}

std::string age_text(const std::optional<std::chrono::milliseconds>& age) { return age ? format_age(*age) : ""; }

struct Totals {
  std::size_t held = 0;
  std::size_t contended = 0;
  std::size_t waiting = 0;
  std::optional<std::chrono::milliseconds> longest{};
};

Totals totals_of(const TopView& view) {
  Totals totals;
  for (const auto& [path, lock] : view.board.locks()) {
    totals.held += lock.holders > 0 ? 1 : 0;
    totals.contended += lock.waiting > 0 ? 1 : 0;
    totals.waiting += lock.waiting;
    if (const auto wait = row_of(lock, time_of(view)).wait) totals.longest = std::max(totals.longest, wait);
  }
  return totals;
}

std::string old_text(const TopView& view) {
  if (view.contact == WallTime{}) return "nothing was read yet";
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(view.now - view.contact);
  return "all below is as of " + format_age(std::max(age, std::chrono::milliseconds::zero())) + " ago";
}

}  // namespace

WallTime time_of(const TopView& view) { return view.connected || view.contact == WallTime{} ? view.now : view.contact; }

ScreenLine blank_line(int columns) { return {fit("", columns)}; }

ScreenLine title_line(const TopView& view, const std::string& base, int columns) {
  const Totals totals = totals_of(view);
  const std::string title = "zklock top " + printable(base);
  const std::string waiting =
      std::to_string(totals.waiting) + " waiting" + (totals.longest ? "  longest " + format_age(*totals.longest) : "");
  const std::string locks = counted(view.board.locks().size(), "lock") + "  ";
  const std::string more = std::to_string(totals.held) + " held  " + std::to_string(totals.contended) + " contended  ";
  for (const std::string& figures : {locks + more + waiting, locks + waiting, waiting}) {
    const int rest = columns - static_cast<int>(figures.size());
    if (rest >= static_cast<int>(title.size()) + gap) return {fit(title, rest) + figures};
  }
  return {fit(title, columns)};
}

ScreenLine state_line(const TopView& view, const std::string& base, int columns) {
  if (!view.connected) {
    const std::string reason = view.trouble.empty() ? "" : " (" + printable(view.trouble) + ")";
    return {fit("NO ZOOKEEPER: " + old_text(view) + reason, columns), Look::alarm};
  }
  if (view.missing) return {fit("there is no node " + printable(base), columns), Look::alarm};
  return {fit("live", columns)};
}

ScreenLine heading_line(int columns) {
  return {line_of({"LOCK", "KIND", "HOLDER", "HELD", "HOLD", "WAIT", "LONGEST"}, columns), Look::heading};
}

ScreenLine lock_line(const TopRow& row, const std::string& base, int columns) {
  const bool is_long = row.wait && *row.wait >= long_wait;
  const std::string path = printable(below(base, row.path)) + (row.is_readable ? "" : " (no permission)");
  return {line_of({path, row.kind, holder_text(row), age_text(row.held), std::to_string(row.holders),
                   std::to_string(row.waiting), (is_long ? "!" : "") + age_text(row.wait)},
                  columns)};
}

ScreenLine nothing_line(const TopView& view, bool is_filtered, int columns) {
  if (is_filtered) return {fit("No lock matches.", columns)};
  if (!view.connected && view.contact == WallTime{}) return {fit("Nothing was read yet.", columns)};
  return {fit("No client holds or waits for a lock here.", columns)};
}

std::vector<ScreenLine> help_lines(int columns) {
  std::vector<ScreenLine> lines;
  for (const char* text :
       {"", "  /            search: words of a path, a kind, a holder; Enter keeps it, Esc clears it",
        "  j k, arrows  next, previous lock", "  PgUp PgDn    a screen up, down", "  Home End     first, last lock",
        "  Enter        open the wait queue of the lock", "  Esc          close the queue, clear the search",
        "  b            who blocks whom, and what zklock doctor would find; again, or Esc: the locks",
        "  ?            this help", "  q            quit", "", "  !2m05s       a client waits for a minute or more",
        "  (asked)      the holder was asked to release the lock",
        "  faint        not watched yet, or ZooKeeper is away: as of the last reading", "",
        "  Ages are those of the nodes: a holder's counts from when it began to wait."})
    lines.push_back({fit(text, columns)});
  return lines;
}

ScreenLine foot_line(bool is_typing, const std::string& filter, int columns) {
  if (is_typing) return {fit("/" + printable(filter) + "_", columns), Look::heading};
  if (!filter.empty())
    return {fit("/" + printable(filter) + "   Esc shows all  ? help  q quit", columns), Look::heading};
  return {fit("/ search  j k move  Enter open  b blocking  Esc back  ? help  q quit", columns), Look::heading};
}

}  // namespace zklock::tools

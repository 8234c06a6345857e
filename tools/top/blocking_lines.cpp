// Which client blocks which, and what is wrong, on the screen.
#include "columns.hpp"
#include "duration.hpp"
#include "printable.hpp"
#include "screen_lines.hpp"

#include <zklock/path.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace zklock::tools {
namespace {

using Look = ScreenLine::Look;

std::string words_of(const Blocker& each, const TopView& view) {
  const std::string lock = printable(view.board.lock_of(std::string{parent_path(each.one.node_path)}));
  const auto age = age_of(each.one, time_of(view));
  const std::string since = age && each.depth > 0 ? " for " + format_age(*age) : "";
  std::string text = std::string(2 * (each.depth + 1), ' ') + printable(name_of(each.one));
  text += (each.depth == 0 ? " holds " : " waits" + since + " for ") + lock;
  if (each.blocked > 0) text += ", blocks " + std::to_string(each.blocked);
  return text + (each.seen_above ? "  (a circle)" : "");
}

std::string words_of(const Finding& each) {
  return "  " + std::string{to_string(each.severity)} + ": " + each.kind + ": " + printable(each.node) + ": " +
         printable(each.what);
}

/// A heading and these lines; so many in all at most, the last of which then says how many are left out.
void add_section(std::vector<ScreenLine>& screen, const char* heading, std::vector<ScreenLine> lines, int rows,
                 int columns) {
  const auto room = static_cast<std::size_t>(std::max(rows - 1, 1));
  if (lines.size() > room) {
    const std::size_t more = lines.size() - (room - 1);
    lines.resize(room);
    lines.back() = {fit("  and " + std::to_string(more) + " more", columns)};
  }
  screen.push_back({fit(heading, columns), Look::heading});
  std::ranges::move(lines, std::back_inserter(screen));
}

}  // namespace

std::vector<ScreenLine> blocking_lines(const TopView& view, ScreenSize size) {
  const Look look = view.connected ? Look::plain : Look::faint;
  const auto line = [&](const std::string& text, Look its_look) {
    return ScreenLine{fit(text, size.columns), its_look};
  };
  std::vector<ScreenLine> findings;
  std::vector<ScreenLine> blockers;
  if (view.diagnosis == nullptr || !view.diagnosis->is_compared()) {
    findings.push_back(line("  Looking ...", look));
  } else {
    for (const Finding& each : view.diagnosis->findings())
      findings.push_back(line(words_of(each), each.severity == Severity::problem ? Look::alarm : look));
    if (findings.empty()) findings.push_back(line("  No problem was found.", look));
    for (const Blocker& each : view.diagnosis->tree())
      blockers.push_back(line(words_of(each, view), each.seen_above ? Look::alarm : look));
    if (blockers.empty()) blockers.push_back(line("  No client waits for another one.", look));
  }
  std::vector<ScreenLine> lines;
  add_section(lines, "FINDINGS", std::move(findings), size.rows / 3, size.columns);
  add_section(lines, "WHO BLOCKS WHOM", std::move(blockers), size.rows - static_cast<int>(lines.size()), size.columns);
  return lines;
}

}  // namespace zklock::tools

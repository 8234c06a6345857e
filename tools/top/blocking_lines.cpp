// Which client blocks which, and what is wrong, on the screen.
#include "columns.hpp"
#include "duration.hpp"
#include "printable.hpp"
#include "screen_lines.hpp"

#include <zklock/path.hpp>

#include <algorithm>
#include <string>

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

}  // namespace

std::vector<ScreenLine> blocking_lines(const TopView& view, int columns) {
  const Look look = view.connected ? Look::plain : Look::faint;
  std::vector<ScreenLine> lines{{fit("WHO BLOCKS WHOM", columns), Look::heading}};
  for (const Blocker& each : view.blockers)
    lines.push_back({fit(words_of(each, view), columns), each.seen_above ? Look::alarm : look});
  if (view.blockers.empty()) lines.push_back({fit("  No client waits for another one.", columns), look});
  lines.push_back({fit("FINDINGS", columns), Look::heading});
  for (const Finding& each : view.findings)
    lines.push_back({fit(words_of(each), columns), each.severity == Severity::problem ? Look::alarm : look});
  if (view.findings.empty()) lines.push_back({fit("  No problem was found.", columns), look});
  return lines;
}

}  // namespace zklock::tools

// The wait queue of one lock on the screen.
#include "columns.hpp"
#include "counted.hpp"
#include "duration.hpp"
#include "printable.hpp"
#include "screen_lines.hpp"

#include <zklock/path.hpp>

#include <algorithm>
#include <utility>

namespace zklock::tools {
namespace {

using Look = ScreenLine::Look;

struct QueueCells {
  std::string state, client, age, kind, session, token, node;
};

std::string queue_line(const QueueCells& cells, int columns) {
  constexpr int fixed = 6 + 7 + 6 + 18 + 12 + 5 * 2;
  const int rest = columns - fixed;
  const int client = rest >= 60 ? rest / 2 : rest;
  const std::string space(2, ' ');
  std::string text = fit(cells.state, 6) + space + fit(cells.client, std::max(client, 10)) + space +
                     fit_right(cells.age, 7) + space + fit(cells.kind, 6) + space + fit(cells.session, 18) + space +
                     fit_right(cells.token, 12);
  if (rest >= 60) text += space + fit(cells.node, rest - client - 2);
  return fit(text, columns);
}

std::string title_of(const TopView& view, const std::string& lock) {
  const BoardLock* row = view.board.find(lock);
  if (row == nullptr) return printable(lock) + "  gone";
  return printable(lock) + "  " + row->kind + ", " + counted(row->holders, "holder") + ", " +
         counted(row->waiting, "waiter");
}

QueueCells cells_of(const BoardPlace& place, std::size_t position, WallTime now) {
  const LockParticipant& one = place.one;
  const auto age = age_of(one, now);
  QueueCells cells;
  cells.state = !place.holds ? std::to_string(position) : one.revocation_requested ? "asked" : "holds";
  cells.client = printable(name_of(one)) + (one.count > 1 ? " x" + std::to_string(one.count) : "");
  cells.kind = to_string(one.kind);
  cells.node = printable(node_name(one.node_path));
  if (!age) return cells;
  cells.age = format_age(*age);
  cells.session = has_session(one) ? to_hexadecimal(one.session_id) : "none";
  cells.token = std::to_string(one.fencing_token);
  return cells;
}

std::string words_of(const BoardEvent& event, WallTime now) {
  const auto ago = std::chrono::duration_cast<std::chrono::milliseconds>(now - event.at);
  const bool is_release = event.what == BoardEvent::What::released;
  return fit_right(format_age(std::max(ago, std::chrono::milliseconds::zero())), 7) + " ago  " +
         (is_release ? "released" : "granted ") + "  " + printable(name_of(event.one)) +
         (is_release ? "  seen to hold it for " + format_age(event.held) : "");
}

}  // namespace

std::vector<ScreenLine> queue_lines(const TopView& view, const std::string& lock, ScreenSize size) {
  const auto rows = static_cast<std::size_t>(std::max(size.rows, 0));
  const WallTime now = time_of(view);
  const Look look = view.connected ? Look::plain : Look::faint;
  std::vector<ScreenLine> lines{{fit(title_of(view, lock), size.columns), Look::heading}};
  const auto places = view.board.places(lock, max_places);
  if (!places.empty())
    lines.push_back({queue_line({"STATE", "CLIENT", "AGE", "KIND", "SESSION", "TOKEN", "NODE"}, size.columns)});
  std::size_t position = 0;
  std::size_t left = places.size();
  for (const BoardPlace& place : places) {
    if (lines.size() + (left > 1 ? 1 : 0) >= rows) break;
    if (!place.holds) ++position;
    lines.push_back({queue_line(cells_of(place, position, now), size.columns), look});
    --left;
  }
  const BoardLock* row = view.board.find(lock);
  const std::size_t all = row == nullptr ? 0 : row->holders + row->waiting;
  if (const std::size_t shown = places.size() - left; all > shown)
    lines.push_back({fit("       and " + std::to_string(all - shown) + " more", size.columns), look});
  const auto& history = view.board.history(lock);
  if (!history.empty() && lines.size() + 2 < rows)
    lines.push_back({fit("seen, at least: short holders may be missed", size.columns), Look::faint});
  std::size_t events = 0;
  for (auto event = history.rbegin(); event != history.rend() && lines.size() < rows && events < max_events; ++event) {
    lines.push_back({fit(words_of(*event, now), size.columns), look});
    ++events;
  }
  if (lines.size() > rows) lines.resize(rows);
  return lines;
}

}  // namespace zklock::tools

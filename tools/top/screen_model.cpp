#include "screen_model.hpp"

#include "screen_lines.hpp"

#include <algorithm>
#include <utility>

namespace zklock::tools {
namespace {

constexpr int frame_rows = 4;  // two above the locks, the heading among them, and two below
constexpr int far = 1'000'000;

void drop_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80) text.pop_back();
  if (!text.empty()) text.pop_back();
}

}  // namespace

void ScreenModel::press(const KeyPress& pressed) {
  if (is_typing_)
    type(pressed);
  else
    command(pressed);
}

void ScreenModel::type(const KeyPress& pressed) {
  using Key = KeyPress::Key;
  switch (pressed.key) {
    case Key::text: filter_ += pressed.text; break;
    case Key::backspace: drop_character(filter_); break;
    case Key::escape: filter_.clear(); [[fallthrough]];
    case Key::enter: is_typing_ = false; break;
    default: command(pressed);
  }
}

void ScreenModel::command(const KeyPress& pressed) {
  using Key = KeyPress::Key;
  switch (pressed.key) {
    case Key::text:
      if (pressed.text.size() == 1) command(pressed.text.front());
      break;
    case Key::up: move(-1); break;
    case Key::down: move(1); break;
    case Key::page_up: move(-page_); break;
    case Key::page_down: move(page_); break;
    case Key::home: move(-far); break;
    case Key::end: move(far); break;
    case Key::enter:
      if (position() < 0) move(1);
      if (!paths_.empty()) open_ = selected_;
      break;
    case Key::escape: back(); break;
    case Key::backspace: break;
  }
}

void ScreenModel::command(char letter) {
  switch (letter) {
    case 'q': is_done_ = true; break;
    case 'j': move(1); break;
    case 'k': move(-1); break;
    case '/': is_typing_ = true; break;
    case 'b': has_blocking_ = !has_blocking_; break;
    case '?': has_help_ = !has_help_; break;
    default: break;
  }
}

/// Leaves what was entered last.
void ScreenModel::back() {
  if (std::exchange(has_help_, false) || std::exchange(has_blocking_, false)) return;
  if (!open_.empty())
    open_.clear();
  else
    filter_.clear();
}

std::ptrdiff_t ScreenModel::position() const {
  const auto found = std::ranges::find(paths_, selected_);
  return found == paths_.end() ? -1 : found - paths_.begin();
}

/// With nothing selected the first step selects the first lock. An open wait queue follows.
void ScreenModel::move(int by) {
  if (paths_.empty()) return;
  const std::ptrdiff_t from = position();
  const std::ptrdiff_t last = std::ssize(paths_) - 1;
  const std::ptrdiff_t to =
      std::clamp<std::ptrdiff_t>(from < 0 && by == 1 ? 0 : std::max<std::ptrdiff_t>(from, 0) + by, 0, last);
  selected_ = paths_[static_cast<std::size_t>(to)];
  if (!open_.empty()) open_ = selected_;
}

/// Brings the selected lock into sight.
void ScreenModel::scroll(int page) {
  page_ = std::max(page, 1);
  const int number = static_cast<int>(paths_.size());
  const int at = static_cast<int>(position());
  if (at >= 0) first_ = std::clamp(first_, at - page_ + 1, at);
  first_ = std::clamp(first_, 0, std::max(number - page_, 0));
}

std::set<std::string> ScreenModel::open() const {
  return open_.empty() ? std::set<std::string>{} : std::set<std::string>{open_};
}

/// An open wait queue has the lower two thirds.
int ScreenModel::list_rows(int body) const { return open_.empty() ? body : std::max(body / 3, 1); }

void ScreenModel::add_list(std::vector<ScreenLine>& lines, const TopView& view, int rows, int columns) {
  const auto locks = arrange(view.board, filter_);
  paths_.clear();
  for (const BoardLock* lock : locks) paths_.push_back(lock->path);
  scroll(rows);
  shown_.clear();
  const std::size_t end = std::min(locks.size(), static_cast<std::size_t>(first_ + rows));
  for (auto i = static_cast<std::size_t>(first_); i < end; ++i) {
    const BoardLock& lock = *locks[i];
    shown_.push_back(lock.path);
    ScreenLine line = lock_line(row_of(lock, time_of(view)), base_, columns);
    if (!view.connected || !view.is_watched(lock.path)) line.look = ScreenLine::Look::faint;
    if (lock.path == selected_) line.look = ScreenLine::Look::selected;
    lines.push_back(std::move(line));
  }
  if (locks.empty() && rows > 0) lines.push_back(nothing_line(view, !filter_.empty(), columns));
}

std::vector<ScreenLine> ScreenModel::draw(const TopView& view, ScreenSize size) {
  std::vector<ScreenLine> lines;
  const int body = std::max(size.rows - frame_rows, 0);
  lines.push_back(title_line(view, base_, size.columns));
  lines.push_back(state_line(view, base_, size.columns));
  lines.push_back(heading_line(size.columns));
  const int rows = list_rows(body);
  add_list(lines, view, rows, size.columns);
  const auto fill_to = [&](int height) {
    lines.resize(static_cast<std::size_t>(std::max(height, 0)), blank_line(size.columns));
  };
  if (has_help_) {
    lines.resize(2);
    std::ranges::move(help_lines(size.columns), std::back_inserter(lines));
  } else if (has_blocking_) {
    lines.resize(2);
    std::ranges::move(blocking_lines(view, {size.rows - 3, size.columns}), std::back_inserter(lines));
  } else if (!open_.empty()) {
    fill_to(3 + rows);
    std::ranges::move(queue_lines(view, open_, {body - rows, size.columns}), std::back_inserter(lines));
  }
  fill_to(size.rows - 1);
  lines.push_back(foot_line(is_typing_, filter_, size.columns));
  if (std::ssize(lines) > size.rows) lines.resize(static_cast<std::size_t>(std::max(size.rows, 0)));
  return lines;
}

}  // namespace zklock::tools

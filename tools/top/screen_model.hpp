// What `zklock top` shows, and what its keys do: pure decisions, without a terminal.
#pragma once

#include "board_diagnosis.hpp"
#include "top_rows.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace zklock::tools {

struct KeyPress {
  enum class Key : std::uint8_t { text, up, down, page_up, page_down, home, end, enter, escape, backspace };
  Key key = Key::text;
  std::string text{};  ///< a character, in UTF-8

  friend bool operator==(const KeyPress&, const KeyPress&) = default;
};

/// A line of the screen, as wide as the screen.
struct ScreenLine {
  enum class Look : std::uint8_t {
    plain,
    heading,
    selected,
    alarm,  ///< what should be seen first
    faint   ///< known of an earlier time
  };
  std::string text{};
  Look look = Look::plain;
};

struct ScreenSize {
  int rows = 24;
  int columns = 80;
};

/// What is to be shown.
struct TopView {
  const LockBoard& board;
  WallTime now{};
  bool connected = false;
  WallTime contact{};                         ///< when something was read last; epoch: never
  bool missing = false;                       ///< the base directory does not exist
  std::string trouble{};                      ///< why there is no ZooKeeper
  const BoardDiagnosis* diagnosis = nullptr;  ///< while ScreenModel::shows_blocking()
  /// Whether the lock is known as of now.
  std::function<bool(const std::string& lock)> is_watched = [](const std::string&) { return true; };
};

class ScreenModel {
 public:
  explicit ScreenModel(std::string base) : base_{std::move(base)} {}

  void press(const KeyPress& pressed);
  /// The whole screen; what is selected stays in sight.
  [[nodiscard]] std::vector<ScreenLine> draw(const TopView& view, ScreenSize size);

  [[nodiscard]] bool is_done() const noexcept { return is_done_; }
  /// Whether the screen shows which client blocks which, and what is wrong, instead of the locks.
  [[nodiscard]] bool shows_blocking() const noexcept { return has_blocking_; }
  /// The locks on the screen, as of the last draw().
  [[nodiscard]] const std::vector<std::string>& shown() const noexcept { return shown_; }
  /// The lock whose wait queue is open; empty: none.
  [[nodiscard]] std::set<std::string> open() const;

 private:
  void type(const KeyPress& pressed);
  void command(const KeyPress& pressed);
  void command(char letter);
  void back();
  void move(int by);
  void scroll(int page);
  [[nodiscard]] std::ptrdiff_t position() const;
  [[nodiscard]] int list_rows(int body) const;
  void add_list(std::vector<ScreenLine>& lines, const TopView& view, int rows, int columns);

  std::string base_;
  std::string filter_;
  std::string selected_;
  std::string open_;
  std::vector<std::string> paths_;  ///< of all locks that match, in their order
  std::vector<std::string> shown_;
  int first_ = 0;  ///< the index of the first lock on the screen
  int page_ = 1;   ///< how many locks the screen can show
  bool is_typing_ = false;
  bool has_help_ = false;
  bool has_blocking_ = false;
  bool is_done_ = false;
};

}  // namespace zklock::tools

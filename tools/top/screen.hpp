// The terminal of `zklock top`, by ncurses.
#pragma once

#include "screen_model.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace zklock::tools {

/// Has the terminal; the destructor gives it back as it was. One at a time.
class Screen {
 public:
  /// Throws Failure when the terminal is not known.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// The next key that was pressed; does not wait.
  [[nodiscard]] std::optional<KeyPress> key();
  [[nodiscard]] ScreenSize size() const;
  void show(const std::vector<ScreenLine>& lines);

  /// Takes the terminal's new size.
  void resize();
  /// Gives the terminal back until resume().
  void suspend();
  void resume();

 private:
  struct Terminal;
  std::unique_ptr<Terminal> terminal_;
};

}  // namespace zklock::tools

#include "screen.hpp"

#include "failure.hpp"

#include <climits>

#include <array>
#include <clocale>
#include <cstdlib>
#include <cwchar>

#include <ncurses.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace zklock::tools {

struct Screen::Terminal {
  SCREEN* screen = nullptr;
};

namespace {

using Key = KeyPress::Key;

chtype attribute_of(ScreenLine::Look look) {
  switch (look) {
    case ScreenLine::Look::heading: return A_REVERSE;
    case ScreenLine::Look::selected: return A_REVERSE | A_BOLD;
    case ScreenLine::Look::alarm: return A_BOLD;
    case ScreenLine::Look::faint: return A_DIM;
    case ScreenLine::Look::plain: break;
  }
  return A_NORMAL;
}

std::optional<Key> special_key(wint_t code) {
  switch (code) {
    case KEY_UP: return Key::up;
    case KEY_DOWN: return Key::down;
    case KEY_PPAGE: return Key::page_up;
    case KEY_NPAGE: return Key::page_down;
    case KEY_HOME: return Key::home;
    case KEY_END: return Key::end;
    case KEY_ENTER: return Key::enter;
    case KEY_BACKSPACE: return Key::backspace;
    default: return std::nullopt;
  }
}

std::optional<KeyPress> typed_key(wchar_t character) {
  switch (character) {
    case L'\r':
    case L'\n': return KeyPress{Key::enter};
    case L'\x1B': return KeyPress{Key::escape};
    case L'\b':
    case L'\x7F': return KeyPress{Key::backspace};
    default: break;
  }
  std::array<char, MB_LEN_MAX> bytes{};
  std::mbstate_t state{};
  const std::size_t size = std::wcrtomb(bytes.data(), character, &state);
  if (character < L' ' || size == static_cast<std::size_t>(-1)) return std::nullopt;
  return KeyPress{Key::text, {bytes.data(), size}};
}

void set_modes() {
  ::cbreak();
  ::noecho();
  ::nonl();
  ::nodelay(stdscr, true);
  ::keypad(stdscr, true);
  ::leaveok(stdscr, true);
  ::set_escdelay(25);
  ::curs_set(0);
}

}  // namespace

Screen::Screen() : terminal_{std::make_unique<Terminal>()} {
  terminal_->screen = ::newterm(nullptr, stdout, stdin);
  if (terminal_->screen == nullptr) {
    const char* name = std::getenv("TERM");
    throw Failure{status::usage, std::string{"the terminal "} + (name == nullptr ? "" : name) +
                                     " is not known: set TERM, or say --once or --json"};
  }
  ::set_term(terminal_->screen);
  set_modes();
}

Screen::~Screen() {
  ::endwin();
  ::delscreen(terminal_->screen);
}

std::optional<KeyPress> Screen::key() {
  for (;;) {
    wint_t code = 0;
    const int kind = ::wget_wch(stdscr, &code);
    if (kind == ERR) return std::nullopt;
    if (kind == KEY_CODE_YES) {
      if (const auto key = special_key(code)) return KeyPress{*key};
    } else if (const auto pressed = typed_key(static_cast<wchar_t>(code))) {
      return pressed;
    }
  }
}

ScreenSize Screen::size() const { return {::getmaxy(stdscr), ::getmaxx(stdscr)}; }

void Screen::show(const std::vector<ScreenLine>& lines) {
  ::werase(stdscr);
  int row = 0;
  for (const ScreenLine& line : lines) {
    ::wattrset(stdscr, static_cast<int>(attribute_of(line.look)));
    ::mvwaddstr(stdscr, row++, 0, line.text.c_str());
  }
  ::wattrset(stdscr, static_cast<int>(A_NORMAL));
  ::wrefresh(stdscr);
}

void Screen::resize() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return;
  ::resizeterm(size.ws_row, size.ws_col);
  ::clearok(stdscr, true);
}

void Screen::suspend() {
  ::def_prog_mode();
  ::endwin();
}

void Screen::resume() {
  ::reset_prog_mode();
  ::curs_set(0);
  resize();
  ::wrefresh(stdscr);
}

}  // namespace zklock::tools

// A terminal for a program with a screen: tmux.
#pragma once

#include "support/await.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/temporary_directory.hpp"

#include <zklock/testing/test_server.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace zklock::test {

/// A tmux server of its own, with one shell with job control in a window of 100 by 30.
class Terminal {
 public:
  explicit Terminal(const std::string& connect_string) {
    tmux({"-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30",
          "env LC_ALL=C.UTF-8 PS1='ready> ' ZKLOCK_CONNECT=" + connect_string + " bash --norc --noprofile -i"});
    if (!shows("ready>")) throw std::runtime_error{"tmux shows no shell"};
  }
  ~Terminal() {
    try {
      tmux({"kill-server"});
    } catch (const std::exception&) {
      // It has ended.
    }
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Types a line, and Enter.
  void type(const std::string& line) const {
    tmux({"send-keys", "-l", line});
    press("Enter");
  }
  /// A key, as tmux names it.
  void press(const std::string& key) const { tmux({"send-keys", key}); }
  void resize(int columns, int rows) const {
    tmux({"resize-window", "-x", std::to_string(columns), "-y", std::to_string(rows)});
  }
  /// The whole screen.
  [[nodiscard]] std::string text() const { return tmux({"capture-pane", "-p"}); }
  /// Whether the screen shows the text, soon. If not, the test tells what it shows.
  [[nodiscard]] bool shows(const std::string& words) const {
    const bool found = eventually([&] { return text().find(words) != std::string::npos; });
    if (!found) UNSCOPED_INFO(text());
    return found;
  }
  /// Whether the cursor is visible, and the screen not the one of a program with a screen.
  [[nodiscard]] bool is_at_rest() const {
    return tmux({"display-message", "-p", "#{cursor_flag} #{alternate_on}"}) == "1 0\n";
  }

 private:
  std::string tmux(std::vector<std::string> words) const {
    words.insert(words.begin(), {"-S", directory_.file("socket")});
    Process process{"tmux", std::move(words), {"LC_ALL=C.UTF-8", "TERM=xterm"}};
    std::string output = process.rest();
    static_cast<void>(process.wait());
    return output;
  }

  TemporaryDirectory directory_;
};

}  // namespace zklock::test

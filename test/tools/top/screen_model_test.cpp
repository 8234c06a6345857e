// The screen of `zklock top`, without a terminal.
#include "screen_model.hpp"

#include "support/catch.hpp"

#include <clocale>
#include <string>
#include <string_view>
#include <vector>

using namespace zklock;
using namespace zklock::tools;
using namespace std::chrono_literals;

namespace {

using Key = KeyPress::Key;
using Look = ScreenLine::Look;

const WallTime start{1'800'000'000s};
const std::string uuid = "_c_00000000-0000-0000-0000-000000000000-lock-000000000";

struct Fixture {
  Fixture() {
    REQUIRE(std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr);
    add("/locks/idle", {});
    add("/locks/new", {{"one", 5s}, {"two", 2s}});
    add("/locks/old", {{"three", 300s}, {"four", 200s}, {"five", 10s}});
    add("/locks/held", {{"six", 60s}});
    view.now = start;
    view.contact = start;
    view.connected = true;
  }
  struct Member {
    std::string client;
    std::chrono::seconds age;
  };
  /// A mutex with these members of its queue, the holder first.
  void add(const std::string& lock, const std::vector<Member>& members) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < members.size(); ++i) names.push_back(uuid + std::to_string(i + 1));
    board.listed("/locks", {}, start);
    if (names.empty()) board.listed(lock, {uuid + "0"}, start);
    board.listed(lock, names, start);
    for (std::size_t i = 0; i < members.size(); ++i) {
      DataResult node;
      node.data = members[i].client + ":1";
      node.stat.ephemeral_owner = ++session;
      node.stat.czxid = 7;
      node.stat.created = start - members[i].age;
      board.node_read(lock + "/" + names[i], node, start);
    }
  }
  void press(std::string_view keys) {
    for (const char key : keys) model.press({Key::text, {key}});
  }
  void press(Key key) { model.press({key}); }
  const std::vector<ScreenLine>& draw(ScreenSize size = {24, 80}) { return lines = model.draw(view, size); }
  [[nodiscard]] std::string text() {
    std::string all;
    for (const ScreenLine& line : draw()) all += line.text + "\n";
    return all;
  }
  [[nodiscard]] bool says(const std::string& words) { return text().find(words) != std::string::npos; }
  /// The lock in the selected line, as the screen names it.
  [[nodiscard]] std::string selected() {
    for (const ScreenLine& line : draw())
      if (line.look == Look::selected) return line.text.substr(0, line.text.find(' '));
    return "none";
  }
  [[nodiscard]] std::vector<std::string> shown() {
    draw();
    return model.shown();
  }

  std::int64_t session = 0;
  LockBoard board;
  TopView view{board};
  ScreenModel model{"/locks"};
  std::vector<ScreenLine> lines;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the longest wait comes first, then the oldest holder, then the name") {
  CHECK(shown() == std::vector<std::string>{"/locks/old", "/locks/new", "/locks/held", "/locks/idle"});
}

TEST_CASE_METHOD(Fixture, "a row shows holder, ages and numbers, and marks a wait of a minute") {
  CHECK(says("4 locks  3 held  2 contended  3 waiting  longest 3m20s"));
  CHECK(says("live"));
  const ScreenLine& old = draw()[3];
  CHECK(old.text.starts_with("old "));
  for (const char* words : {"mutex", "three", "5m00s     1      2    !3m20s"}) {
    INFO(old.text);
    CHECK(old.text.find(words) != std::string::npos);
  }
  CHECK(lines[6].text.find("free") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "every line is as wide as the screen, and there are as many as it has rows") {
  press("j");
  for (const bool is_open : {false, true}) {
    if (is_open) press(Key::enter);
    for (const ScreenSize size : {ScreenSize{24, 80}, {50, 200}, {10, 40}, {4, 20}, {2, 10}, {1, 1}}) {
      INFO(size.rows << " x " << size.columns);
      CHECK(std::ssize(draw(size)) == size.rows);
      for (const ScreenLine& line : lines) CHECK(std::ssize(line.text) == size.columns);
    }
  }
}

TEST_CASE_METHOD(Fixture, "j, k, arrows, pages, Home and End select") {
  draw();
  CHECK(selected() == "none");
  press("j");
  CHECK(selected() == "old");
  press("j");
  CHECK(selected() == "new");
  press("k");
  press("k");
  CHECK(selected() == "old");
  press(Key::down);
  CHECK(selected() == "new");
  press(Key::up);
  CHECK(selected() == "old");
  press(Key::end);
  CHECK(selected() == "idle");
  press(Key::home);
  CHECK(selected() == "old");
  press(Key::page_down);
  CHECK(selected() == "idle");
  press(Key::page_up);
  CHECK(selected() == "old");
}

TEST_CASE_METHOD(Fixture,
                 "what is selected stays selected when the order changes, and in sight when the screen shrinks") {
  draw();
  press("jj");
  CHECK(selected() == "new");
  board.listed("/locks/old", {}, start);
  CHECK(shown().front() == "/locks/new");
  CHECK(selected() == "new");
  press(Key::end);
  draw({6, 80});
  CHECK(model.shown().size() == 2);
  CHECK(model.shown().back() == "/locks/old");
  draw();
  CHECK(model.shown().size() == 4);
}

TEST_CASE_METHOD(Fixture, "Enter opens the wait queue, which follows the selection, and Esc closes it") {
  draw();
  press(Key::enter);
  CHECK(model.open() == std::set<std::string>{"/locks/old"});
  CHECK(says("/locks/old  mutex, 1 holder, 2 waiters"));
  CHECK(says("holds   three"));
  CHECK(says("1       four"));
  CHECK(says("2       five"));
  CHECK(says("seen, at least"));
  press("j");
  CHECK(model.open() == std::set<std::string>{"/locks/new"});
  press(Key::escape);
  CHECK(model.open().empty());
  CHECK_FALSE(model.is_done());
}

TEST_CASE_METHOD(Fixture, "a queue that is longer than the screen says how many are left out") {
  std::vector<Member> many;
  for (int i = 0; i < 9; ++i) many.push_back({"client", 1000s});
  add("/locks/long", many);
  draw();
  press(Key::enter);
  draw({15, 80});
  std::string all;
  for (const ScreenLine& line : lines) all += line.text;
  CHECK(all.find("and 4 more") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a search keeps the locks with all its words, in any case") {
  press("/HE six");
  CHECK(says("/HE six_"));
  CHECK(shown() == std::vector<std::string>{"/locks/held"});
  press(Key::backspace);
  press(Key::enter);
  press("q");
  CHECK(model.is_done());
}

TEST_CASE_METHOD(Fixture, "keys that command are text in a search, and Esc clears it") {
  press("/qj?");
  CHECK_FALSE(model.is_done());
  CHECK(says("No lock matches."));
  press(Key::escape);
  CHECK(shown().size() == 4);
  press("/old");
  press(Key::enter);
  CHECK(shown().size() == 1);
  press(Key::escape);
  CHECK(shown().size() == 4);
}

TEST_CASE_METHOD(Fixture, "Backspace takes a whole character of UTF-8") {
  press("/old");
  model.press({Key::text, "\xC3\xA9"});
  CHECK(says("/old\xC3\xA9_"));
  press(Key::backspace);
  CHECK(says("/old_"));
}

TEST_CASE_METHOD(Fixture, "b shows which client blocks which and what is wrong, and again or Esc the locks") {
  BoardDiagnosis diagnosis;
  view.diagnosis = &diagnosis;
  press("b");
  CHECK(says("Looking ..."));
  diagnosis.examine(board, start - 2s);
  CHECK(says("Looking ..."));
  diagnosis.examine(board, start);
  CHECK(model.shows_blocking());
  INFO(text());
  CHECK(says("  three holds /locks/old, blocks 2"));
  CHECK(says("    four waits for 3m20s for /locks/old"));
  CHECK(says("  problem: stuck: /locks/old/"));
  CHECK_FALSE(says("HOLDER"));
  CHECK(draw({5, 80}).size() == 5);
  std::string small;
  for (const ScreenLine& line : draw({10, 80})) small += line.text;
  CHECK(small.find("FINDINGS") != small.npos);
  CHECK(small.find("  and 2 more") != small.npos);  // of five clients that block or wait
  press(Key::escape);
  CHECK_FALSE(model.shows_blocking());
  CHECK(says("HOLDER"));
  press("b");
  const LockBoard none;
  BoardDiagnosis of_none;
  of_none.examine(none, start - 2s);
  of_none.examine(none, start);
  view.diagnosis = &of_none;
  CHECK(says("No client waits for another one."));
  CHECK(says("No problem was found."));
  press("b");
  CHECK(says("HOLDER"));
}

TEST_CASE_METHOD(Fixture, "? shows the keys, and again or Esc hides them") {
  press("?");
  CHECK(says("open the wait queue of the lock"));
  press("?");
  CHECK(says("HOLDER"));
  press("?");
  press(Key::escape);
  CHECK_FALSE(says("open the wait queue of the lock"));
}

TEST_CASE_METHOD(Fixture, "while ZooKeeper is away what was seen stays, with its age") {
  view.connected = false;
  view.now = start + 42s;
  view.trouble = "connection refused";
  CHECK(says("NO ZOOKEEPER: all below is as of 42s ago (connection refused)"));
  CHECK(lines[1].look == Look::alarm);
  CHECK(says("!3m20s"));  // not 42 s more: what has happened since is not known
  CHECK(lines[3].look == Look::faint);
  view.contact = {};
  LockBoard empty;
  TopView none{empty};
  const auto first = ScreenModel{"/locks"}.draw(none, {});
  CHECK(first[1].text.starts_with("NO ZOOKEEPER: nothing was read yet"));
  CHECK(first[3].text.starts_with("Nothing was read yet."));
}

TEST_CASE_METHOD(Fixture, "a base that does not exist is said to be missing, and what has no watch is faint") {
  view.is_watched = [](const std::string& lock) { return lock != "/locks/new"; };
  draw();
  CHECK(lines[3].look == Look::plain);
  CHECK(lines[4].look == Look::faint);
  view.missing = true;
  CHECK(says("there is no node /locks"));
}

TEST_CASE_METHOD(Fixture, "names that are hostile to a terminal are shown escaped, and wide ones are cut by columns") {
  const std::string odd = "/locks/a\x1B[2J\xE2\x80\xAE\n";
  add(odd, {{"evil\xE2\x80\x8F", 900s}, {"other\xE2\x81\xA6", 800s}});
  draw();
  press(Key::enter);
  CHECK(says("a\\u{1B}[2J\\u{202E}\\u{A}"));
  CHECK(says("evil\\u{200F}"));
  CHECK(says("other\\u{2066}"));
  for (const ScreenLine& line : lines)
    for (const char byte : line.text) CHECK(static_cast<unsigned char>(byte) >= 0x20);
  press(Key::escape);
  std::string wide;
  for (int i = 0; i < 40; ++i) wide += "\xE6\x97\xA5";  // each two columns
  add("/locks/" + wide, {{"x", 990s}, {"y", 980s}});
  const std::string line = draw()[3].text;
  const auto mark = line.find('~');
  REQUIRE(mark != std::string::npos);
  CHECK(line.size() - mark == 80 - static_cast<std::size_t>(mark / 3 * 2));
}

#include "support/catch.hpp"

#include <zklock/path.hpp>

#include <boost/system/system_error.hpp>

#include <random>
#include <string>
#include <string_view>

using namespace std::string_literals;
using zklock::Error;
using zklock::Flaw;
using zklock::validate_path;

namespace {

/// The exception that the call throws: its code and its text.
template <class Call>
boost::system::system_error thrown_by(Call call) {
  try {
    call();
  } catch (const boost::system::system_error& error) {
    return error;
  }
  return boost::system::system_error{boost::system::error_code{}, "nothing thrown"};
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// UTF-8 as it would be encoded if every 21-bit number were a code point.
std::string encode(char32_t c) {
  const auto byte = [](char32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F))};
  if (c < 0x10000) return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
  return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
}

}  // namespace

TEST_CASE("a valid path has no flaw") {
  struct Row {
    const char* name;
    std::string path;
  };
  const Row rows[] = {
      {"the root", "/"},
      {"one component", "/a"},
      {"several components", "/locks/orders/_c_0-lock-0000000001"},
      {"dots inside", "/a.b/..c/d../.../.e/f."},
      {"space and punctuation", "/a b/~!@#$%^&*()=+[]{}|;:'\",<>?\\`"},
      {"two bytes", "/K\xC3\xA4se"},
      {"the first after the C1 controls", "/\xC2\xA0"},
      {"the last of two bytes", "/\xDF\xBF"},
      {"the first of three bytes", "/\xE0\xA0\x80"},
      {"the last before the surrogates", "/\xED\x9F\xBF"},
      {"the first after private use", "/\xEF\xA4\x80"},
      {"the last before U+FFF0", "/\xEF\xBF\xAF"},
      {"two megabytes", "/" + std::string(2'000'000, 'x')},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Flaw flaw = validate_path(row.path, std::nothrow);
    CHECK(flaw.reason == "");
    CHECK(flaw.offset == 0);
    CHECK_NOTHROW(zklock::validate_path(row.path));
  }
}

TEST_CASE("an invalid path has a flaw, with its position and its reason") {
  struct Row {
    const char* name;
    std::string path;
    std::size_t offset;
    std::string reason;  ///< a part of it
  };
  const Row rows[] = {
      {"empty", "", 0, "empty"},
      {"relative", "a/b", 0, "starts with '/'"},
      {"only a dot", ".", 0, "starts with '/'"},
      {"trailing slash", "/a/", 2, "at the end"},
      {"trailing slash below", "/abc/de/", 7, "at the end"},
      {"two slashes alone", "//", 1, "after a '/'"},
      {"two slashes inside", "/a//b", 3, "after a '/'"},
      {"two slashes at the end: the first flaw counts", "/a//", 3, "after a '/'"},
      {"dot", "/.", 1, "\".\""},
      {"dot inside", "/a/./b", 3, "\".\""},
      {"two dots", "/..", 1, "\"..\""},
      {"two dots inside", "/a/../b", 3, "\"..\""},
      {"NUL", "/a\0b"s, 2, "NUL"},
      {"NUL at the end", "/a\0"s, 2, "NUL"},
      {"U+0001", "/a\x01", 2, "control"},
      {"newline", "/a\nb", 2, "control"},
      {"U+001F", "/\x1F", 1, "control"},
      {"DEL", "/ab\x7F", 3, "control"},
      {"U+0080", "/\xC2\x80", 1, "control"},
      {"U+009F", "/a/\xC2\x9F", 3, "control"},
      {"first of private use", "/\xEE\x80\x80", 1, "private use"},
      {"last of private use", "/\xEF\xA3\xBF", 1, "private use"},
      {"U+FFF0", "/\xEF\xBF\xB0", 1, "U+FFF0"},
      {"replacement character", "/a\xEF\xBF\xBD", 2, "U+FFF0"},
      {"U+FFFF", "/\xEF\xBF\xBF", 1, "U+FFF0"},
      {"U+10000", "/\xF0\x90\x80\x80", 1, "above U+FFFF"},
      {"a smile", "/ok/\xF0\x9F\x99\x82", 4, "above U+FFFF"},
      {"U+10FFFF", "/\xF4\x8F\xBF\xBF", 1, "above U+FFFF"},
      {"above U+10FFFF", "/\xF4\x90\x80\x80", 1, "UTF-8"},
      {"five bytes", "/\xF8\x88\x80\x80\x80", 1, "UTF-8"},
      {"FF", "/\xFF", 1, "UTF-8"},
      {"overlong slash", "/\xC0\xAF", 1, "UTF-8"},
      {"overlong NUL", "/\xC0\x80", 1, "UTF-8"},
      {"overlong DEL", "/\xC1\xBF", 1, "UTF-8"},
      {"overlong in three bytes", "/\xE0\x9F\xBF", 1, "UTF-8"},
      {"overlong in four bytes", "/\xF0\x8F\xBF\xBF", 1, "UTF-8"},
      {"first surrogate", "/\xED\xA0\x80", 1, "UTF-8"},
      {"last surrogate", "/\xED\xBF\xBF", 1, "UTF-8"},
      {"surrogate pair (CESU-8)", "/\xED\xA0\xBD\xED\xB9\x82", 1, "UTF-8"},
      {"lone continuation", "/ab\x80", 3, "UTF-8"},
      {"two bytes, one missing", "/\xC3", 1, "UTF-8"},
      {"three bytes, one missing", "/a\xE2\x82", 2, "UTF-8"},
      {"four bytes, one missing", "/a\xF0\x9F\x99", 2, "UTF-8"},
      {"cut by a slash", "/\xE2\x82/a", 1, "UTF-8"},
      {"latin-1", "/K\xE4se", 2, "UTF-8"},
      {"after a good character", "/\xC3\xA4\x01", 3, "control"},
      {"the first of several flaws", "/a\x01//\xFF", 2, "control"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Flaw flaw = validate_path(row.path, std::nothrow);
    CHECK(flaw);
    CHECK(flaw.offset == row.offset);
    CHECK_THAT(std::string(flaw.reason), Catch::Matchers::ContainsSubstring(row.reason));
    CHECK(thrown_by([&] { zklock::validate_path(row.path); }).code() == Error::invalid_path);
  }
}

TEST_CASE("exactly the code points that Java's check accepts are accepted") {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c == U'/' || c == U'.') continue;
    const bool refused = c <= 0x1F || (c >= 0x7F && c <= 0x9F) || (c >= 0xD800 && c <= 0xF8FF) || c >= 0xFFF0;
    const Flaw flaw = validate_path("/a" + encode(c) + "b", std::nothrow);
    if (static_cast<bool>(flaw) == refused && flaw.offset == (refused ? 2u : 0u)) continue;
    CAPTURE(static_cast<std::uint32_t>(c), flaw.offset, flaw.reason);
    FAIL_CHECK("wrong");
  }
}

TEST_CASE("random bytes never crash the check, and a flaw is inside the path") {
  std::mt19937 random{20240607};
  const std::string tricky = "/.\0\x01\x7F\x80\xBF\xC2\xE0\xED\xEF\xF0\xF4\xFF"s;
  for (int round = 0; round < 100'000; ++round) {
    std::string path(random() % 24, '\0');
    for (char& byte : path) byte = random() % 2 ? tricky[random() % tricky.size()] : static_cast<char>(random() % 256);
    if (random() % 4 != 0) path.insert(0, "/");
    const Flaw flaw = validate_path(path, std::nothrow);
    const bool inside = flaw ? (flaw.offset < path.size() || path.empty()) : flaw.offset == 0;
    if (!inside) FAIL_CHECK(zklock::quoted(path) << " has its flaw at " << flaw.offset);
    // The part before the flaw is harmless.
    if (flaw.offset > 0 && validate_path(path.substr(0, flaw.offset) + "x", std::nothrow)) {
      FAIL_CHECK(zklock::quoted(path) << " has an earlier flaw than at " << flaw.offset);
    }
    (void)zklock::parent_path(path);
    (void)zklock::node_name(path);
  }
}

TEST_CASE("the error of a refused path says which path it is, where it is wrong, and why") {
  const std::string what = thrown_by([] { zklock::validate_path("/a\n\xFF\"\xC3\xA4"); }).what();
  CAPTURE(what);
  CHECK(contains(what, R"("/a\x0a\xff\"ä", byte 2: a control character)"));
  CHECK(contains(what, "invalid path"));
}

TEST_CASE("joining puts one slash between parent and child") {
  struct Row {
    const char* parent;
    const char* child;
    const char* joined;
  };
  const Row rows[] = {
      {"/a", "b", "/a/b"},     {"/", "a", "/a"},       {"", "a", "/a"},
      {"/a/", "b", "/a/b"},    {"/a", "/b", "/a/b"},   {"/a/", "/b", "/a/b"},
      {"/a", "b/c", "/a/b/c"}, {"/app", "/", "/app/"}, {"/", "/", "/"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.parent, row.child);
    CHECK(zklock::join_path(row.parent, row.child) == row.joined);
  }
}

TEST_CASE("a path has a parent and a name") {
  struct Row {
    const char* path;
    const char* parent;
    const char* name;
  };
  const Row rows[] = {{"/a/b/c", "/a/b", "c"}, {"/a", "/", "a"}, {"/", "/", ""}, {"", "/", ""}, {"a", "/", "a"}};
  for (const Row& row : rows) {
    CAPTURE(row.path);
    CHECK(zklock::parent_path(row.path) == row.parent);
    CHECK(zklock::node_name(row.path) == row.name);
  }
}

TEST_CASE("joining a path's parent and its name gives the path") {
  std::mt19937 random{7};
  for (int round = 0; round < 1000; ++round) {
    std::string path;
    for (auto depth = 1 + random() % 5; depth > 0; --depth) {
      path += "/" + std::string(1 + random() % 4, static_cast<char>('a' + random() % 26));
    }
    REQUIRE(zklock::join_path(zklock::parent_path(path), zklock::node_name(path)) == path);
  }
}

TEST_CASE("quoting makes any bytes readable") {
  struct Row {
    const char* name;
    std::string text;
    std::string quoted;
  };
  const Row rows[] = {
      {"nothing", "", R"("")"},
      {"plain", "/a b", R"("/a b")"},
      {"quote and backslash", R"(a"b\c)", R"("a\"b\\c")"},
      {"controls", "\0\t\x1F\x7F"s, R"("\x00\x09\x1f\x7f")"},
      {"C1 control", "\xC2\x85", R"("\xc2\x85")"},
      {"UTF-8", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x99\x82", "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x99\x82\""},
      {"not UTF-8", "\xE2\x82x", R"("\xe2\x82x")"},
      {"long", std::string(1000, 'x'), '"' + std::string(200, 'x') + "\"..."},
      {"not too long", std::string(200, 'x'), '"' + std::string(200, 'x') + '"'},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(zklock::quoted(row.text) == row.quoted);
  }
}

// Text from others, for a terminal and as JSON.
#include "printable.hpp"

#include "support/catch.hpp"

#include <string>

using namespace zklock::tools;

TEST_CASE("text that would not display as itself is printed escaped") {
  struct Row {
    std::string text;
    std::string printed;
  };
  const Row rows[] = {
      {"/locks/nightly-1", "/locks/nightly-1"},
      {"/prix/\xC3\xA9t\xC3\xA9/\xE6\x97\xA5\xE6\x9C\xAC/\xF0\x9F\x94\x92",
       "/prix/\xC3\xA9t\xC3\xA9/\xE6\x97\xA5\xE6\x9C\xAC/\xF0\x9F\x94\x92"},
      {"a\x1B[2Jb", "a\\u{1B}[2Jb"},
      {"two\nlines\r\t", "two\\u{A}lines\\u{D}\\u{9}"},
      {std::string{"a\0b", 3}, "a\\u{0}b"},
      {"\x7F\xC2\x9B", "\\u{7F}\\u{9B}"},
      {"gpj\xE2\x80\xAEtxt", "gpj\\u{202E}txt"},
      {"\xE2\x81\xA6isolated\xE2\x81\xA9", "\\u{2066}isolated\\u{2069}"},
      {"a\xE2\x80\x8B\xEF\xBB\xBF\xC2\xAD", "a\\u{200B}\\u{FEFF}\\u{AD}"},
      {"a\xC2\xA0\xE3\x80\x80", "a\\u{A0}\\u{3000}"},
      {"\xF3\xA0\x81\x81\xF4\x8F\xBF\xBF", "\\u{E0041}\\u{10FFFF}"},
      {"\xFF\xC3(", "\\xFF\\xC3("},
      {"\xC0\xAF\xE0\x80\xAF", "\\xC0\\xAF\\xE0\\x80\\xAF"},
      {"\xED\xA0\x80", "\\xED\\xA0\\x80"},
      {"cut \xF0\x9F\x94", "cut \\xF0\\x9F\\x94"},
      {"\\u{1B}", "\\\\u{1B}"},
  };
  for (const Row& row : rows) CHECK(printable(row.text) == row.printed);
}

TEST_CASE("JSON is printed in ASCII") {
  CHECK(to_ascii("{\"a\":\"b\\n\"}\n") == "{\"a\":\"b\\n\"}\n");
  CHECK(to_ascii("\"\xC3\xA9 \xE2\x80\xAE \xF0\x9F\x94\x92 \x7F\"") == "\"\\u00e9 \\u202e \\ud83d\\udd12 \\u007f\"");
  CHECK(to_ascii("\"\xFF\"") == "\"\\ufffd\"");
}

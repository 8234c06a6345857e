// The numbers of sequential nodes.
#include "sequence_number.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <optional>
#include <string>

using namespace zklock;

namespace {

const std::string uuid = "_c_5f0c1d2e-3a4b-4c5d-8e6f-708192a3b4c5-";

std::string node(const std::string& sequence) { return uuid + "lock-" + sequence; }

}  // namespace

TEST_CASE("the sequence number is what the server writes after the last marker") {
  struct Row {
    std::string name;
    std::optional<std::int32_t> sequence;
  };
  const Row rows[] = {
      {node("0000000000"), 0},
      {node("0000000042"), 42},
      {node("2147483647"), INT32_MAX},
      {node("-2147483648"), INT32_MIN},
      {node("-000000001"), -1},
      {node("-1000000000"), -1000000000},
      {node("-0000000001"), std::nullopt},
      {"lock-0000000007", 7},
      {"lock-lock-0000000007", 7},
      {"lock-0000000007-lock-0000000008", 8},
      {node("2147483648"), std::nullopt},  // not an int
      {node("000000001"), std::nullopt},
      {node("00000000001"), std::nullopt},
      {node("+000000001"), std::nullopt},
      {node("--000000001"), std::nullopt},
      {node("000000000x"), std::nullopt},
      {node(" 000000001"), std::nullopt},
      {node("000000000\xd9\xa1"), std::nullopt},  // an Arabic digit
      {node(""), std::nullopt},
      {"0000000001", std::nullopt},
      {uuid + "__READ__0000000001", std::nullopt},
      {"0123456789abcdef__lock__0000000001", std::nullopt},
      {"lock-0000000001 ", std::nullopt},
      {"", std::nullopt},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(parse_sequence(row.name, "lock-") == row.sequence);
  }
}

TEST_CASE("the whole text is a sequence number, or it is none") {
  CHECK(parse_sequence("0000000042") == 42);
  CHECK(parse_sequence("-000000001") == -1);
  CHECK(parse_sequence("-2147483648") == INT32_MIN);
  for (const char* text : {"", "-", "42", "lock-0000000042", "0000000042 ", "-0000000001", "2147483648"})
    CHECK_FALSE(parse_sequence(text));
}

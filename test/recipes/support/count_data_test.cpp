// How a shared count is written.
#include "count_data.hpp"

#include "support/catch.hpp"

using namespace zklock;

TEST_CASE("a number of permits is Curator's SharedCount: four bytes, big-endian") {
  using namespace std::string_literals;
  struct Row {
    std::int32_t count;
    std::string data;
  };
  const Row rows[] = {
      {0, "\0\0\0\0"s},           {1, "\0\0\0\x01"s},        {0x01020304, "\x01\x02\x03\x04"s},
      {200, "\0\0\0\xc8"s},       {-1, "\xff\xff\xff\xff"s}, {INT32_MAX, "\x7f\xff\xff\xff"s},
      {INT32_MIN, "\x80\0\0\0"s},
  };
  for (const Row& row : rows) {
    CHECK(format_count(row.count) == row.data);
    CHECK(parse_count(row.data) == row.count);
  }
  for (const std::string& bad : {""s, "1"s, "\0\0\x01"s, "\0\0\0\0\x01"s, "\0\0\0\0\0\0\0\x01"s})
    CHECK_FALSE(parse_count(bad));
}

#include "support/catch.hpp"

#include <zklock/client_id.hpp>
#include <zklock/recipes/locks/lock_data.hpp>

#include <optional>
#include <string>

using namespace zklock;

TEST_CASE("a lock node's data are a client id and a count") {
  struct Row {
    std::string data;
    std::optional<LockData> meaning;
  };
  const Row rows[] = {
      {"host-1-00c0ffee:1", LockData{"host-1-00c0ffee", 1}},
      {"a b/c:2147483647", LockData{"a b/c", 2147483647}},
      {"\xc3\xa4:12", LockData{"\xc3\xa4", 12}},
      {"", std::nullopt},
      {"10.0.0.1", std::nullopt},
      {":1", std::nullopt},
      {"a:", std::nullopt},
      {"a:0", std::nullopt},
      {"a:01", std::nullopt},
      {"a:-1", std::nullopt},
      {"a:+1", std::nullopt},
      {"a: 1", std::nullopt},
      {"a:1 ", std::nullopt},
      {"a:2147483648", std::nullopt},
      {"a:99999999999999999999", std::nullopt},
      {"a:b:1", std::nullopt},
      {"a\n:1", std::nullopt},
      {"\xff:1", std::nullopt},
      {"__REVOKE__", std::nullopt},
      {std::string{"a\0:1", 4}, std::nullopt},
  };
  for (const Row& row : rows) {
    INFO(row.data);
    CHECK(parse_lock_data(row.data) == row.meaning);
    if (row.meaning) CHECK(format_lock_data(*row.meaning) == row.data);
  }
}

TEST_CASE("a lock node's data name the client that made it") {
  const std::string id = make_client_id();
  CHECK(parse_lock_data(format_lock_data({id, 1})) == LockData{id, 1});
}

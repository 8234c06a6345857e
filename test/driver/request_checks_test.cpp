#include "request_checks.hpp"

#include "support/catch.hpp"

using namespace zklock;
using namespace std::chrono_literals;

namespace {

Request create(CreateMode mode, std::chrono::milliseconds ttl = 0ms) {
  return {.operation = Operation::create, .path = "/ab", .data = "xyz", .mode = mode, .ttl = ttl, .acl = open_acl()};
}

}  // namespace

TEST_CASE("the size of a frame is that of zookeeper.jute's records") {
  const std::size_t header = 8, path = 4 + 3, data = 4 + 3, acl = 4 + 4 + (4 + 5) + (4 + 6);
  const struct {
    Request request;
    std::size_t expected;
  } cases[] = {
      {create(CreateMode::ephemeral), header + path + data + acl + 4},
      {create(CreateMode::persistent_ttl, 1s), header + path + data + acl + 4 + 8},
      {{.operation = Operation::remove, .path = "/ab"}, header + path + 4},
      {{.operation = Operation::exists, .path = "/ab"}, header + path + 1},
      {{.operation = Operation::get_data, .path = "/ab"}, header + path + 1},
      {{.operation = Operation::get_children, .path = "/ab"}, header + path + 1},
      {{.operation = Operation::set_data, .path = "/ab", .data = "xyz"}, header + path + data + 4},
      {{.operation = Operation::get_acl, .path = "/ab"}, header + path},
      {{.operation = Operation::set_acl, .path = "/ab", .acl = open_acl()}, header + path + acl + 4},
      {{.operation = Operation::sync, .path = "/ab"}, header + path},
      {{.operation = Operation::multi,
        .parts = {{.operation = Operation::check, .path = "/ab"}, {.operation = Operation::remove, .path = "/ab"}}},
       header + 3 * 9 + 2 * (path + 4)},
  };
  for (const auto& [request, expected] : cases) {
    CAPTURE(to_string(request.operation));
    CHECK(frame_size(request) == expected);
    CHECK_FALSE(validate_request(request, expected));
    CHECK(validate_request(request, expected - 1) == Error::payload_too_large);
  }
}

TEST_CASE("a request that cannot be sent is refused before, with the reason") {
  const std::size_t room = 1'048'575;
  CHECK(validate_request({.operation = Operation::sync, .path = "a"}, room) == Error::invalid_path);
  CHECK(validate_request(create(CreateMode::persistent, 1s), room) == Error::invalid_create_mode);
  CHECK(validate_request(create(CreateMode::persistent_ttl), room) == Error::invalid_create_mode);
  CHECK(validate_request(create(CreateMode::persistent_ttl, -1s), room) == Error::invalid_timeout);
  CHECK(validate_request(create(CreateMode::persistent_ttl, 24h * 365 * 40), room) == Error::invalid_timeout);
  CHECK(validate_request({.operation = Operation::create, .path = "/a"}, room) == Error::invalid_acl);
  CHECK(validate_request({.operation = Operation::multi}, room) == Error::invalid_transaction);
  CHECK(validate_part(create(CreateMode::container)) == Error::invalid_create_mode);
  CHECK(validate_part(create(CreateMode::persistent_ttl, 1s)) == Error::invalid_create_mode);
  CHECK_FALSE(validate_part(create(CreateMode::ephemeral_sequential)));
}

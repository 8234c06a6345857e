// The labels of locks.
#include "support/catch.hpp"

#include <zklock/metrics/metrics.hpp>

using namespace zklock::metrics;

TEST_CASE("components of a path that look like ids are one label") {
  CHECK(label_of("/locks/orders") == "/locks/orders");
  CHECK(label_of("/locks/123456") == "/locks/*");
  CHECK(label_of("/locks/12345") == "/locks/12345");
  CHECK(label_of("/locks/123456/rows") == "/locks/*/rows");
  CHECK(label_of("/locks/order-123456") == "/locks/order-123456");
  CHECK(label_of("/locks/0123456789abcdef") == "/locks/*");
  CHECK(label_of("/locks/0123456789abcde") == "/locks/0123456789abcde");
  CHECK(label_of("/locks/123e4567-e89b-12d3-a456-426614174000") == "/locks/*");
  CHECK(label_of("/locks/123e4567-e89b-12d3-a456-42661417400g") == "/locks/123e4567-e89b-12d3-a456-42661417400g");
  CHECK(label_of("/") == "/");
  CHECK(label_of("").empty());
}

TEST_CASE("the names of a registry are one label") {
  const Labeller labeller = label_below({"/app/locks/rows"});
  CHECK(labeller("/app/locks/rows/alice") == "/app/locks/rows/*");
  CHECK(labeller("/app/locks/rows") == "/app/locks/rows");
  CHECK(labeller("/app/locks/rows/alice/inner") == "/app/locks/rows/alice/inner");
  CHECK(labeller("/other/123456") == "/other/*");
}

// Deadlines.
#include "support/catch.hpp"

#include <zklock/clock.hpp>

#include <limits>

using namespace zklock;
using namespace std::chrono_literals;

TEST_CASE("a wait of any length is a deadline that does not overflow") {
  const auto now = Clock::now();
  CHECK(*after(5s) >= now + 5s);
  CHECK(*after(5s) < now + 10s);
  CHECK(*after(std::chrono::hours::max()) > now + std::chrono::hours{24 * 365});
  CHECK(*after(std::chrono::nanoseconds::max()) > now + std::chrono::hours{24 * 365});
  CHECK(*after(std::chrono::duration<double>{std::numeric_limits<double>::infinity()}) >
        now + std::chrono::hours{24 * 365});
  CHECK(*after(std::chrono::duration<double>{std::numeric_limits<double>::quiet_NaN()}) >
        now + std::chrono::hours{24 * 365});
  CHECK(*after(-5s) < now + 1s);
  CHECK(*after(std::chrono::hours::min()) >= now);
}

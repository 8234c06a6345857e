#include "support/catch.hpp"

#include <zklock/error.hpp>
#include <zklock/retry_policy.hpp>

#include <boost/system/system_error.hpp>
#include <climits>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using zklock::ExponentialBackoffRetry;

namespace {

constexpr std::uint64_t all_bits = ~std::uint64_t{0};
constexpr auto for_ever = milliseconds::max();

/// The longest wait before a retry, in exact arithmetic.
std::uint64_t ceiling_of(const ExponentialBackoffRetry& policy, int retry) {
  const auto limit = static_cast<std::uint64_t>(policy.max_wait.count());
  auto wait = static_cast<std::uint64_t>(policy.base.count());
  for (int i = 0; i < retry && wait < limit; ++i) wait *= 2;  // at most 2^63 * 2 - 2
  return std::min(wait, limit);
}

}  // namespace

TEST_CASE("the wait doubles up to the limit, and the tries run out") {
  struct Row {
    const char* name;
    ExponentialBackoffRetry policy;
    int retry;
    std::optional<milliseconds> longest;
  };
  const Row rows[] = {
      {"first", {.base = 100ms}, 0, 100ms},
      {"second", {.base = 100ms}, 1, 200ms},
      {"last", {.base = 100ms}, 4, 1600ms},
      {"none left", {.base = 100ms}, 5, {}},
      {"far beyond", {.base = 100ms}, INT_MAX, {}},
      {"negative", {.base = 100ms}, -1, {}},
      {"no tries at all", {.max_retries = 0}, 0, {}},
      {"just below the limit", {.base = 100ms, .max_wait = 401ms}, 2, 400ms},
      {"at the limit", {.base = 100ms, .max_wait = 400ms}, 2, 400ms},
      {"just above the limit", {.base = 100ms, .max_wait = 399ms}, 2, 399ms},
      {"the base is the limit", {.base = 7ms, .max_wait = 7ms}, 0, 7ms},
      {"one millisecond", {.base = 1ms, .max_wait = 1ms}, 3, 1ms},
      {"29, where Curator stops shifting", {1ms, INT_MAX, for_ever}, 29, milliseconds{1LL << 29}},
      {"31", {1ms, INT_MAX, for_ever}, 31, milliseconds{1LL << 31}},
      {"62", {1ms, INT_MAX, for_ever}, 62, milliseconds{1LL << 62}},
      {"63", {1ms, INT_MAX, for_ever}, 63, for_ever},
      {"64", {1ms, INT_MAX, for_ever}, 64, for_ever},
      {"INT_MAX - 1", {100ms, INT_MAX, 10s}, INT_MAX - 1, 10s},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    REQUIRE(row.policy.wait_before(row.retry, 0).has_value() == row.longest.has_value());
    if (!row.longest) continue;
    const auto longest = static_cast<std::uint64_t>(row.longest->count());
    CHECK(row.policy.wait_before(row.retry, 0) == 1ms);
    CHECK(row.policy.wait_before(row.retry, longest - 1) == row.longest);
    CHECK(row.policy.wait_before(row.retry, longest) == 1ms);
  }
}

TEST_CASE("for any valid policy the wait is positive and at most its ceiling") {
  std::mt19937_64 random{3};
  const auto number = [&] { return static_cast<std::int64_t>((random() >> 1) >> random() % 63); };
  for (int round = 0; round < 200'000; ++round) {
    const milliseconds base{std::max<std::int64_t>(1, number())};
    const ExponentialBackoffRetry policy{base, INT_MAX, std::max(base, milliseconds{number()})};
    const int retry = static_cast<int>(random() % INT_MAX) >> random() % 31;
    const auto bits = random() % 16 == 0 ? all_bits : random();
    const auto wait = policy.wait_before(retry, bits);
    if (wait && *wait > 0ms && static_cast<std::uint64_t>(wait->count()) <= ceiling_of(policy, retry)) continue;
    CAPTURE(policy.base.count(), policy.max_wait.count(), retry, bits);
    FAIL_CHECK("out of bounds");
  }
}

TEST_CASE("the waits are spread evenly, their mean is half the ceiling") {
  const ExponentialBackoffRetry policy{.base = 100ms, .max_retries = INT_MAX, .max_wait = 10s};
  std::mt19937_64 random{4};
  for (const int retry : {0, 3, 6, 7, 29, 1000}) {
    constexpr int draws = 20'000;
    double sum = 0;
    int quarters[4] = {};
    const auto ceiling = static_cast<double>(ceiling_of(policy, retry));
    for (int i = 0; i < draws; ++i) {
      const auto wait = static_cast<double>(policy.wait_before(retry, random())->count());
      sum += wait;
      ++quarters[static_cast<int>((wait - 1) * 4 / ceiling)];
    }
    CAPTURE(retry);
    CHECK(std::abs(sum / draws - (ceiling + 1) / 2) < 0.02 * ceiling);
    for (const int count : quarters) CHECK(std::abs(count - draws / 4) < draws / 50);
  }
}

TEST_CASE("a policy is valid when it can wait and can end") {
  struct Row {
    const char* name;
    ExponentialBackoffRetry policy;
    const char* reason;  ///< a part of it, or nothing when the policy is valid
  };
  const Row rows[] = {
      {"the default", {}, nullptr},
      {"the least", {1ms, 0, 1ms}, nullptr},
      {"the most", {for_ever, INT_MAX, for_ever}, nullptr},
      {"no base", {.base = 0ms}, "base, in ms, must be positive and is 0"},
      {"negative base", {.base = -5ms}, "base, in ms, must be positive and is -5"},
      {"limit below base", {.base = 100ms, .max_wait = 99ms}, "max_wait, in ms, must not be less than base and is 99"},
      {"negative limit", {.max_wait = -1ms}, "max_wait"},
      {"negative tries", {.max_retries = -1}, "max_retries must not be negative and is -1"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    if (!row.reason) {
      CHECK_NOTHROW(row.policy.validate());
      continue;
    }
    try {
      row.policy.validate();
      FAIL_CHECK("not refused");
    } catch (const boost::system::system_error& error) {
      CHECK(error.code() == zklock::Error::invalid_retry_policy);
      CHECK_THAT(error.what(), Catch::Contains(row.reason));
    }
  }
}

TEST_CASE("even a policy that nobody validated waits, and without overflow") {
  for (const auto base : {milliseconds::min(), -1ms, 0ms, 1ms, for_ever}) {
    for (const auto max_wait : {milliseconds::min(), -1ms, 0ms, 1ms, for_ever}) {
      for (const int retry : {0, 1, 62, 63, 64, INT_MAX - 1}) {
        const ExponentialBackoffRetry policy{base, INT_MAX, max_wait};
        CHECK(policy.wait_before(retry, all_bits).value() > 0ms);
      }
    }
  }
}

#include "support/catch.hpp"

#include <zklock/client.hpp>
#include <zklock/retry_policy.hpp>

#include <boost/system/system_error.hpp>
#include <climits>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

using namespace std::chrono_literals;
using namespace zklock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

namespace {

constexpr std::uint64_t all_bits = ~std::uint64_t{0};
constexpr auto for_ever = milliseconds::max();

FailedTry failed_try(int retry, std::uint64_t random = 0) { return {.retry = retry, .random = random}; }
FailedTry failed_after(nanoseconds elapsed) { return {.elapsed = elapsed}; }

/// The longest wait before a retry, in exact arithmetic.
std::uint64_t ceiling_of(const ExponentialBackoffRetry& policy, int retry) {
  const auto limit = static_cast<std::uint64_t>(policy.max_wait.count());
  auto wait = static_cast<std::uint64_t>(policy.base.count());
  for (int i = 0; i < retry && wait < limit; ++i) wait *= 2;  // at most 2^63 * 2 - 2
  return std::min(wait, limit);
}

/// A user's own policy: it counts its calls, and waits after an error that no other policy would wait for.
struct Patient {
  std::shared_ptr<int> asked = std::make_shared<int>();
  milliseconds wait{7};

  std::optional<milliseconds> wait_before(const FailedTry& failed) const noexcept {
    ++*asked;
    return failed.error == Error::no_node ? std::optional{wait} : std::nullopt;
  }
  void validate() const {
    if (wait > 1h) throw boost::system::system_error(Error::invalid_retry_policy, "too patient");
  }
};

struct NoValidate {
  std::optional<milliseconds> wait_before(const FailedTry&) const noexcept;
};
struct MayThrow {
  std::optional<milliseconds> wait_before(const FailedTry&) const;
  void validate() const;
};

static_assert(RetryPolicyType<ExponentialBackoffRetry> && RetryPolicyType<BoundedExponentialBackoffRetry>);
static_assert(RetryPolicyType<RetryNTimes> && RetryPolicyType<RetryOneTime> && RetryPolicyType<RetryForever>);
static_assert(RetryPolicyType<RetryUntilElapsed> && RetryPolicyType<SessionFailedRetryPolicy>);
static_assert(RetryPolicyType<RetryPolicy> && RetryPolicyType<Patient>);
static_assert(!RetryPolicyType<NoValidate> && !RetryPolicyType<MayThrow> && !RetryPolicyType<int>);
static_assert(std::semiregular<RetryPolicy> && std::is_convertible_v<Patient, RetryPolicy>);
static_assert(!std::is_convertible_v<NoValidate, RetryPolicy> && !std::is_convertible_v<milliseconds, RetryPolicy>);

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
      {"a base that would come back around", {100ms, INT_MAX, for_ever}, 60, for_ever},
      {"INT_MAX - 1", {100ms, INT_MAX, 10s}, INT_MAX - 1, 10s},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const BoundedExponentialBackoffRetry bounded{row.policy.base, row.policy.max_wait, row.policy.max_retries};
    for (const RetryPolicy& policy : {RetryPolicy{row.policy}, RetryPolicy{bounded}}) {
      REQUIRE(policy.wait_before(failed_try(row.retry)).has_value() == row.longest.has_value());
      if (!row.longest) continue;
      const auto longest = static_cast<std::uint64_t>(row.longest->count());
      CHECK(policy.wait_before(failed_try(row.retry)) == 1ms);
      CHECK(policy.wait_before(failed_try(row.retry, longest - 1)) == row.longest);
      CHECK(policy.wait_before(failed_try(row.retry, longest)) == 1ms);
    }
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
    const auto wait = policy.wait_before(failed_try(retry, bits));
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
      const auto wait = static_cast<double>(policy.wait_before(failed_try(retry, random()))->count());
      sum += wait;
      ++quarters[static_cast<int>((wait - 1) * 4 / ceiling)];
    }
    CAPTURE(retry);
    CHECK(std::abs(sum / draws - (ceiling + 1) / 2) < 0.02 * ceiling);
    for (const int count : quarters) CHECK(std::abs(count - draws / 4) < draws / 50);
  }
}

TEST_CASE("policies with a fixed wait end as configured") {
  struct Row {
    const char* name;
    RetryPolicy policy;
    int retry;
    std::optional<milliseconds> wait;
  };
  const Row rows[] = {
      {"n times, first", RetryNTimes{3, 20ms}, 0, 20ms},
      {"n times, last", RetryNTimes{3, 20ms}, 2, 20ms},
      {"n times, none left", RetryNTimes{3, 20ms}, 3, {}},
      {"n times, far beyond", RetryNTimes{3, 20ms}, INT_MAX, {}},
      {"n times, negative", RetryNTimes{3, 20ms}, -1, {}},
      {"never", RetryNTimes{0, 20ms}, 0, {}},
      {"at once is after a millisecond", RetryNTimes{3, 0ms}, 0, 1ms},
      {"one time", RetryOneTime{20ms}, 0, 20ms},
      {"one time, used up", RetryOneTime{20ms}, 1, {}},
      {"one time, at once", RetryOneTime{0ms}, 0, 1ms},
      {"for ever, first", RetryForever{20ms}, 0, 20ms},
      {"for ever, last", RetryForever{20ms}, INT_MAX, 20ms},
      {"for ever, negative", RetryForever{20ms}, -1, {}},
      {"for ever, a long wait", RetryForever{for_ever}, 0, for_ever},
      {"until elapsed, any number", RetryUntilElapsed{1s, 20ms}, INT_MAX, 20ms},
      {"until elapsed, negative", RetryUntilElapsed{1s, 20ms}, -1, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(row.policy.wait_before(failed_try(row.retry, all_bits)) == row.wait);
  }
}

TEST_CASE("RetryUntilElapsed cuts its last wait so that it ends with the time") {
  struct Row {
    const char* name;
    RetryUntilElapsed policy;
    nanoseconds elapsed;
    std::optional<milliseconds> wait;
  };
  const Row rows[] = {
      {"at once", {1s, 300ms}, 0ns, 300ms},
      {"a clock set back", {1s, 300ms}, -5s, 300ms},
      {"room enough", {1s, 300ms}, 700ms, 300ms},
      {"a nanosecond too little", {1s, 300ms}, 700ms + 1ns, 299ms},
      {"cut", {1s, 300ms}, 900ms, 100ms},
      {"a millisecond left", {1s, 300ms}, 999ms, 1ms},
      {"less than a millisecond left", {1s, 300ms}, 999ms + 1ns, {}},
      {"nothing left", {1s, 300ms}, 1s, {}},
      {"late", {1s, 300ms}, 1h, {}},
      {"no time at all", {0ms, 300ms}, 0ns, {}},
      {"beyond what nanoseconds can say", {for_ever, 300ms}, nanoseconds::max(), 300ms},
      {"a wait beyond what nanoseconds can say", {2s, for_ever}, 1s, 1s},
      {"everything", {for_ever, for_ever}, 0ns, for_ever},
      {"the earliest clock", {for_ever, for_ever}, nanoseconds::min(), for_ever},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(row.policy.wait_before(failed_after(row.elapsed)) == row.wait);
  }
}

TEST_CASE("all waits of RetryUntilElapsed end within its time, however long the tries take") {
  std::mt19937_64 random{5};
  for (int round = 0; round < 2'000; ++round) {
    const milliseconds limit{random() % 10'000};
    const RetryUntilElapsed policy{limit, milliseconds{1 + random() % 3'000}};
    nanoseconds elapsed{};
    int retry = 0;
    for (;; ++retry) {
      elapsed += nanoseconds{random() % 50'000'000};  // the try
      const auto wait = policy.wait_before({.retry = retry, .elapsed = elapsed});
      if (!wait) break;
      REQUIRE(*wait >= 1ms);
      REQUIRE(*wait <= policy.wait);
      elapsed += *wait;
      REQUIRE(elapsed <= limit);
      REQUIRE(retry < 10'000);
    }
    CHECK(elapsed > limit - 1ms);  // and the policy makes use of the time
  }
}

TEST_CASE("the total wait of a policy that counts its retries is bounded, too") {
  const ExponentialBackoffRetry exponential{100ms, 20, 2s};
  const RetryPolicy policies[] = {exponential, BoundedExponentialBackoffRetry{100ms, 2s, 20}, RetryNTimes{20, 2s}};
  std::mt19937_64 random{6};
  for (const RetryPolicy& policy : policies) {
    milliseconds total{};
    int retries = 0;
    while (const auto wait = policy.wait_before(failed_try(retries, random()))) {
      total += *wait;
      REQUIRE(++retries <= 20);
    }
    CHECK(retries == 20);
    CHECK(total <= 20 * 2s);
  }
}

TEST_CASE("SessionFailedRetryPolicy does not retry after a failure that ended the session") {
  const SessionFailedRetryPolicy policy{RetryNTimes{2, 20ms}};
  struct Row {
    Error error;
    bool retried;
  };
  const Row rows[] = {
      {Error::session_expired, false}, {Error::auth_failed, false},
      {Error::closing, false},         {Error::session_closed_require_sasl_auth, false},
      {Error::connection_loss, true},  {Error::operation_timeout, true},
      {Error::session_moved, true},    {Error::no_node, true},
  };
  for (const Row& row : rows) {
    CAPTURE(error_code{row.error}.message());
    CHECK(policy.wait_before({.retry = 1, .error = row.error}).has_value() == row.retried);
    CHECK_FALSE(policy.wait_before({.retry = 2, .error = row.error}));
    CHECK(policy.inner.wait_before({.retry = 1, .error = row.error}));
  }
}

TEST_CASE("a user's own policy is asked like any other, also through a copy and from inside another") {
  const Patient own;
  RetryPolicy policy = own;
  const RetryPolicy copy = policy;
  const RetryPolicy moved = std::move(policy);
  const RetryPolicy nested = SessionFailedRetryPolicy{copy};
  int asked = 0;
  for (const RetryPolicy& one : {policy, copy, moved, nested}) {  // also the policy that was moved from
    CHECK(one.wait_before({.error = Error::no_node}) == 7ms);
    CHECK_FALSE(one.wait_before({.error = Error::connection_loss}));
    CHECK(*own.asked == (asked += 2));
  }
  policy = RetryOneTime{3ms};
  CHECK(policy.wait_before({}) == 3ms);
  CHECK(copy.wait_before({.error = Error::no_node}) == 7ms);
  const ClientConfig config{.connect_string = {}, .retry = own};
  CHECK(config.retry.wait_before({.error = Error::no_node}) == 7ms);
  CHECK_THROWS_AS(RetryPolicy{Patient{.wait = 2h}}.validate(), boost::system::system_error);
}

TEST_CASE("retries back off exponentially by default") {
  const ExponentialBackoffRetry expected;
  for (const RetryPolicy& policy : {RetryPolicy{}, ClientConfig{}.retry, SessionFailedRetryPolicy{}.inner}) {
    for (int retry = -1; retry < 7; ++retry) {
      const FailedTry failed = failed_try(retry, 123'456'789);
      CHECK(policy.wait_before(failed) == expected.wait_before(failed));
    }
  }
}

TEST_CASE("a policy is valid when it can wait and can end, and the field that is not is named") {
  struct Row {
    const char* name;
    RetryPolicy policy;
    const char* reason = nullptr;  ///< a part of it, or nothing when the policy is valid
  };
  using Exponential = ExponentialBackoffRetry;
  using Bounded = BoundedExponentialBackoffRetry;
  const Row rows[] = {
      {"the default", RetryPolicy{}},
      {"exponential: the default", Exponential{}},
      {"exponential: the least", Exponential{1ms, 0, 1ms}},
      {"exponential: the most", Exponential{for_ever, INT_MAX, for_ever}},
      {"exponential: no base", Exponential{.base = 0ms}, "base, in ms, must be positive and is 0"},
      {"exponential: negative base", Exponential{.base = -5ms}, "base, in ms, must be positive and is -5"},
      {"exponential: limit below base", Exponential{.base = 100ms, .max_wait = 99ms},
       "max_wait, in ms, must not be less than base and is 99"},
      {"exponential: negative limit", Exponential{.max_wait = -1ms}, "max_wait"},
      {"exponential: negative tries", Exponential{.max_retries = -1}, "max_retries must not be negative and is -1"},
      {"bounded: the default", Bounded{}},
      {"bounded: Curator's order", Bounded{100ms, 99ms, 100}, "max_wait, in ms, must not be less than base and is 99"},
      {"bounded: no base", Bounded{0ms, 1ms, 1}, "base, in ms, must be positive and is 0"},
      {"bounded: negative tries", Bounded{1ms, 1ms, -1}, "max_retries must not be negative and is -1"},
      {"n times: the default", RetryNTimes{}},
      {"n times: the least", RetryNTimes{0, 0ms}},
      {"n times: negative n", RetryNTimes{-1, 1ms}, "n must not be negative and is -1"},
      {"n times: negative wait", RetryNTimes{1, -1ms}, "wait, in ms, must not be negative and is -1"},
      {"one time: the default", RetryOneTime{}},
      {"one time: at once", RetryOneTime{0ms}},
      {"one time: negative wait", RetryOneTime{-1ms}, "wait, in ms, must not be negative and is -1"},
      {"for ever: the default", RetryForever{}},
      {"for ever: a spin", RetryForever{0ms}, "wait, in ms, must be positive and is 0"},
      {"for ever: negative wait", RetryForever{-1ms}, "wait, in ms, must be positive and is -1"},
      {"until elapsed: the default", RetryUntilElapsed{}},
      {"until elapsed: no time", RetryUntilElapsed{0ms, 1ms}},
      {"until elapsed: negative time", RetryUntilElapsed{-1ms, 1ms},
       "max_elapsed, in ms, must not be negative and is -1"},
      {"until elapsed: a spin", RetryUntilElapsed{1s, 0ms}, "wait, in ms, must be positive and is 0"},
      {"session failed: the default", SessionFailedRetryPolicy{}},
      {"session failed: a bad inner one", SessionFailedRetryPolicy{RetryForever{0ms}}, "wait, in ms, must be positive"},
      {"session failed: twice", SessionFailedRetryPolicy{SessionFailedRetryPolicy{RetryNTimes{-1}}}, "n must not be"},
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
      CHECK(error.code() == Error::invalid_retry_policy);
      CHECK_THAT(error.what(), Catch::Matchers::StartsWith(row.reason));
    }
  }
}

TEST_CASE("even a policy that was not validated waits, and without overflow") {
  for (const auto wait : {milliseconds::min(), -1ms, 0ms, 1ms, for_ever}) {
    for (const int retry : {0, 1, 62, 63, 64, INT_MAX - 1}) {
      for (const auto limit : {milliseconds::min(), -1ms, 0ms, 1ms, for_ever}) {
        CHECK(ExponentialBackoffRetry{wait, INT_MAX, limit}.wait_before(failed_try(retry, all_bits)).value() > 0ms);
        for (const auto elapsed : {nanoseconds::min(), -1ns, 0ns, 1ns, nanoseconds::max()})
          CHECK(RetryUntilElapsed{limit, wait}.wait_before({.retry = retry, .elapsed = elapsed}).value_or(1ms) > 0ms);
      }
      CHECK(RetryNTimes{INT_MAX, wait}.wait_before(failed_try(retry)).value() > 0ms);
      CHECK(RetryForever{wait}.wait_before(failed_try(retry)).value() > 0ms);
    }
    CHECK(RetryOneTime{wait}.wait_before({}).value() > 0ms);
  }
}

#include <zklock/retry_policy.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <string>

namespace zklock {

using std::chrono::milliseconds;

namespace {

using Wait = std::optional<milliseconds>;

constexpr milliseconds least_wait{1};

[[noreturn]] void refuse(const char* what, long long value) {
  throw boost::system::system_error(Error::invalid_retry_policy, what + (" and is " + std::to_string(value)));
}

void demand_positive_wait(milliseconds wait) {
  if (wait <= milliseconds::zero()) refuse("wait, in ms, must be positive", wait.count());
}

void demand_no_negative_wait(milliseconds wait) {
  if (wait < milliseconds::zero()) refuse("wait, in ms, must not be negative", wait.count());
}

}  // namespace

Wait ExponentialBackoffRetry::wait_before(const FailedTry& failed) const noexcept {
  const int number = failed.retry;
  if (number < 0 || number >= max_retries) return std::nullopt;

  // Shifts the limit down for the comparison, since shifting the base up may overflow.
  const auto limit = max_wait.count();
  const bool below_limit = number < 63 && base.count() <= limit >> number;
  const auto ceiling = std::max<milliseconds::rep>(1, below_limit ? base.count() << number : limit);
  return milliseconds{1 + static_cast<milliseconds::rep>(failed.random % static_cast<std::uint64_t>(ceiling))};
}

void ExponentialBackoffRetry::validate() const {
  if (base <= milliseconds::zero()) refuse("base, in ms, must be positive", base.count());
  if (max_wait < base) refuse("max_wait, in ms, must not be less than base", max_wait.count());
  if (max_retries < 0) refuse("max_retries must not be negative", max_retries);
}

Wait BoundedExponentialBackoffRetry::wait_before(const FailedTry& failed) const noexcept {
  return ExponentialBackoffRetry{base, max_retries, max_wait}.wait_before(failed);
}

void BoundedExponentialBackoffRetry::validate() const {
  ExponentialBackoffRetry{base, max_retries, max_wait}.validate();
}

Wait RetryNTimes::wait_before(const FailedTry& failed) const noexcept {
  if (failed.retry < 0 || failed.retry >= n) return std::nullopt;
  return std::max(wait, least_wait);
}

void RetryNTimes::validate() const {
  if (n < 0) refuse("n must not be negative", n);
  demand_no_negative_wait(wait);
}

Wait RetryOneTime::wait_before(const FailedTry& failed) const noexcept {
  return RetryNTimes{1, wait}.wait_before(failed);
}

void RetryOneTime::validate() const { demand_no_negative_wait(wait); }

Wait RetryForever::wait_before(const FailedTry& failed) const noexcept {
  if (failed.retry < 0) return std::nullopt;
  return std::max(wait, least_wait);
}

void RetryForever::validate() const { demand_positive_wait(wait); }

Wait RetryUntilElapsed::wait_before(const FailedTry& failed) const noexcept {
  // In whole milliseconds, rounded up: in nanoseconds the limit may overflow.
  const auto elapsed = std::max(std::chrono::ceil<milliseconds>(failed.elapsed), milliseconds::zero());
  if (failed.retry < 0 || elapsed >= max_elapsed) return std::nullopt;
  return std::min(std::max(wait, least_wait), max_elapsed - elapsed);
}

void RetryUntilElapsed::validate() const {
  if (max_elapsed < milliseconds::zero()) refuse("max_elapsed, in ms, must not be negative", max_elapsed.count());
  demand_positive_wait(wait);
}

RetryPolicy::RetryPolicy() : RetryPolicy{ExponentialBackoffRetry{}} {}

Wait SessionFailedRetryPolicy::wait_before(const FailedTry& failed) const noexcept {
  if (is_session_lost(failed.error)) return std::nullopt;
  return inner.wait_before(failed);
}

void SessionFailedRetryPolicy::validate() const { inner.validate(); }

}  // namespace zklock

#include <zklock/error.hpp>
#include <zklock/retry_policy.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <string>

namespace zklock {

using std::chrono::milliseconds;

std::optional<milliseconds> ExponentialBackoffRetry::wait_before(int retry, std::uint64_t random) const noexcept {
  if (retry < 0 || retry >= max_retries) return std::nullopt;

  // Compared by shifting the limit down, since shifting the base up may overflow.
  const auto limit = max_wait.count();
  const bool below_limit = retry < 63 && base.count() <= limit >> retry;
  const auto ceiling = std::max<milliseconds::rep>(1, below_limit ? base.count() << retry : limit);
  return milliseconds{1 + static_cast<milliseconds::rep>(random % static_cast<std::uint64_t>(ceiling))};
}

void ExponentialBackoffRetry::validate() const {
  const auto refuse = [](const char* what, long long value) {
    throw boost::system::system_error(Error::invalid_retry_policy, what + (" is " + std::to_string(value)));
  };
  if (base <= milliseconds::zero()) refuse("base, in ms, must be positive and", base.count());
  if (max_wait < base) refuse("max_wait, in ms, must not be less than base and", max_wait.count());
  if (max_retries < 0) refuse("max_retries must not be negative and", max_retries);
}

}  // namespace zklock

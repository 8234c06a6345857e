// Waiting in tests: for an operation, and for a condition. Nothing sleeps without a deadline.
#pragma once

#include <zklock/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include <poll.h>

namespace zklock::test {

using namespace std::chrono_literals;
namespace asio = boost::asio;

/// Polls until `condition` holds. False when the time has passed. If the wait between two polls takes far too long, the
/// machine has stood still, and nothing else ran either: that time does not count.
///
/// The limit is there so that a test which fails comes to its end. Only a test with the tag [timing] may have a limit
/// that is a promise.
[[nodiscard]] inline bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = 45s) {
  using Steady = std::chrono::steady_clock;
  constexpr Steady::duration longest_wait = 100ms;
  auto deadline = Steady::now() + limit;
  while (!condition()) {
    const auto polled = Steady::now();
    if (polled > deadline) return false;
    ::poll(nullptr, 0, 2);
    deadline += std::max(Steady::now() - polled - longest_wait, Steady::duration::zero());
  }
  return true;
}

/// An operation's outcome, which the test's thread waits for. Counts completions, of which there must be one.
template <class... Results>
class Pending {
 public:
  using Outcome = std::tuple<error_code, Results...>;

  /// The completion handler.
  auto handler() {
    return [shared = shared_](error_code error, Results... results) {
      if (++shared->completions == 1) shared->promise.set_value(Outcome{error, std::move(results)...});
    };
  }
  [[nodiscard]] bool ready(std::chrono::milliseconds limit = 0ms) {
    return shared_->future.wait_for(limit) == std::future_status::ready;
  }
  /// The limit ends a test that fails; the users of the campaign have others.
  Outcome get(std::chrono::milliseconds limit = 60s) {
    if (!ready(limit)) throw std::runtime_error{"the operation has not completed in time"};
    return shared_->future.get();
  }
  [[nodiscard]] int completions() const { return shared_->completions; }

 private:
  struct Shared {
    std::promise<Outcome> promise;
    std::future<Outcome> future = promise.get_future();
    std::atomic<int> completions{0};
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

/// Runs `operation(token)` to its end and gives its outcome.
template <class... Results, class Operation>
std::tuple<error_code, Results...> outcome_of_operation(Operation&& operation) {
  Pending<Results...> pending;
  std::forward<Operation>(operation)(pending.handler());
  return pending.get();
}

}  // namespace zklock::test

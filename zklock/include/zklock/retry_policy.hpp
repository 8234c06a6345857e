// How long to wait before the next try, if there is one.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/error.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace zklock {

/// What a policy knows about the operation that asks for another try.
struct FailedTry {
  int retry = 0;              ///< the retries so far: 0 before the first one
  Clock::duration elapsed{};  ///< since the operation began, waits included
  error_code error{};         ///< of the last try; the caller already knows that another try could succeed
  std::uint64_t random = 0;   ///< any 64 random bits, new at each call
};

/// A retry policy is a value with these two members. A program may write its own and pass it wherever a RetryPolicy is
/// accepted:
///
///     std::optional<std::chrono::milliseconds> wait_before(const FailedTry& failed) const noexcept;
///     void validate() const;
///
/// wait_before returns the wait before the next try, or nothing when the failure is final. It keeps no state between
/// calls and must be safe to call from several threads at once. validate throws boost::system::system_error with
/// Error::invalid_retry_policy when the policy makes no sense; a Client calls it once, in its constructor.
///
/// Each of zklock's own policies that has passed validate() returns waits of at least 1 ms, so that many clients do not
/// spin; and it returns nothing for a negative `retry`.
template <class Policy>
concept RetryPolicyType = std::copy_constructible<Policy> && requires(const Policy& policy, const FailedTry& failed) {
  { policy.wait_before(failed) }
  noexcept->std::convertible_to<std::optional<std::chrono::milliseconds>>;
  policy.validate();
};

/// Exponential back-off with full jitter: before retry n the wait is drawn evenly from [1 ms, base * 2^n], at most
/// `max_wait`. So clients that failed together do not come back together.
///
/// Curator's version draws multiples of the base and does not limit the wait.
struct ExponentialBackoffRetry {
  std::chrono::milliseconds base{100};
  int max_retries = 5;
  std::chrono::milliseconds max_wait{10'000};

  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_before(const FailedTry& failed) const noexcept;
  /// Requires base > 0, max_wait >= base and max_retries >= 0.
  void validate() const;
};

/// The same, with Curator's other order of arguments.
struct BoundedExponentialBackoffRetry {
  std::chrono::milliseconds base{100};
  std::chrono::milliseconds max_wait{10'000};
  int max_retries = 5;

  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_before(const FailedTry& failed) const noexcept;
  /// Requires base > 0, max_wait >= base and max_retries >= 0.
  void validate() const;
};

/// Retries `n` times, after the same wait each time. For few clients: clients that failed together come back together.
struct RetryNTimes {
  int n = 5;
  std::chrono::milliseconds wait{1'000};

  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_before(const FailedTry& failed) const noexcept;
  /// Requires n >= 0 and wait >= 0; a wait of 0 means 1 ms.
  void validate() const;
};

/// Retries once.
struct RetryOneTime {
  std::chrono::milliseconds wait{1'000};

  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_before(const FailedTry& failed) const noexcept;
  /// Requires wait >= 0; a wait of 0 means 1 ms.
  void validate() const;
};

/// Retries until the operation succeeds, is cancelled, or its deadline passes.
struct RetryForever {
  std::chrono::milliseconds wait{1'000};

  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_before(const FailedTry& failed) const noexcept;
  /// Requires wait > 0.
  void validate() const;
};

/// Retries as long as the next try can begin within `max_elapsed` of the operation's beginning; the last wait is cut to
/// end there. (Curator's version overshoots by one wait.) A try that has begun is not cut short; a deadline does that.
struct RetryUntilElapsed {
  std::chrono::milliseconds max_elapsed{15'000};
  std::chrono::milliseconds wait{1'000};

  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_before(const FailedTry& failed) const noexcept;
  /// Requires max_elapsed >= 0 and wait > 0.
  void validate() const;
};

/// Any retry policy. It converts implicitly from any RetryPolicyType; the default is an ExponentialBackoffRetry with
/// its defaults.
///
/// A value: copies share the policy, which never changes. Threads: any thread may call anything.
class RetryPolicy {
 public:
  RetryPolicy();
  template <class Policy>
  requires(!std::same_as<std::remove_cvref_t<Policy>, RetryPolicy> && RetryPolicyType<std::remove_cvref_t<Policy>>)
      RetryPolicy(Policy&& policy)
      : policy_{std::make_shared<const Model<std::remove_cvref_t<Policy>>>(std::forward<Policy>(policy))} {}
  // Moves are copies, so that a RetryPolicy is never without a policy.
  RetryPolicy(const RetryPolicy&) = default;
  RetryPolicy& operator=(const RetryPolicy&) = default;
  ~RetryPolicy() = default;

  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_before(const FailedTry& failed) const noexcept {
    return policy_->wait_before(failed);
  }
  void validate() const { policy_->validate(); }

 private:
  struct Interface {
    virtual ~Interface() = default;
    [[nodiscard]] virtual std::optional<std::chrono::milliseconds> wait_before(const FailedTry&) const noexcept = 0;
    virtual void validate() const = 0;
  };

  template <class Policy>
  struct Model final : Interface {
    template <class From>
    explicit Model(From&& from) : policy(std::forward<From>(from)) {}
    [[nodiscard]] std::optional<std::chrono::milliseconds> wait_before(
        const FailedTry& failed) const noexcept override {
      return policy.wait_before(failed);
    }
    void validate() const override { policy.validate(); }
    Policy policy;
  };

  std::shared_ptr<const Interface> policy_;
};

/// Does not retry after a failure that ended the session (is_session_lost). What was done on that session is gone,
/// above all its ephemeral nodes, and the caller is told instead of starting over. After any other failure `inner`
/// decides.
struct SessionFailedRetryPolicy {
  RetryPolicy inner{};

  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_before(const FailedTry& failed) const noexcept;
  /// Requires what `inner` requires.
  void validate() const;
};

}  // namespace zklock

// An operation that goes on to its end even if its caller stops waiting.
#pragma once

#include <zklock/detail/initiate.hpp>
#include <zklock/timer.hpp>

#include <memory>
#include <optional>

namespace zklock::detail {

/// The handler of an operation that cannot be cancelled. It gets the outcome, or before that the error of the deadline
/// (Error::timed_out) or of the caller's cancellation (operation_aborted); the operation then goes on.
///
/// Threads: the serial executor, unless marked.
class Unattended : public std::enable_shared_from_this<Unattended> {
 public:
  explicit Unattended(Handler<> handler) noexcept : handler_{std::move(handler)} {}
  /// Listens to the caller's cancellation slot. Any thread, before any other call.
  static std::shared_ptr<Unattended> of(Handler<> handler, const asio::any_io_executor& serial);

  /// std::nullopt: no deadline.
  void give_up_at(Deadline deadline, const asio::any_io_executor& serial);
  /// Only the first call has an effect.
  void complete(error_code outcome);

 private:
  std::optional<Handler<>> handler_;
  std::optional<Timer> timer_;
};

}  // namespace zklock::detail

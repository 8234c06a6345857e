// What goes on to its end, whoever waits for it.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/detail/operation.hpp>

#include <memory>
#include <optional>

namespace zklock::detail {

/// The handler of an operation that cannot be called off. It hears the outcome, or before that of the deadline
/// (Error::timed_out) or of the caller's cancellation (operation_aborted); the operation goes on then.
///
/// Threads: the serial executor, unless marked.
class Unattended : public std::enable_shared_from_this<Unattended> {
 public:
  explicit Unattended(Handler<> handler) noexcept : handler_{std::move(handler)} {}
  /// Listens to the caller's cancellation slot. Any thread, before anything else is done.
  static std::shared_ptr<Unattended> of(Handler<> handler, const asio::any_io_executor& serial);

  /// Nothing: no deadline.
  void give_up_at(Deadline deadline, const asio::any_io_executor& serial);
  /// The first call counts.
  void complete(error_code outcome);

 private:
  std::optional<Handler<>> handler_;
  std::optional<Timer> timer_;
};

}  // namespace zklock::detail

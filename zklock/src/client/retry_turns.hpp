// Limits the retries of one client per second.
#pragma once

#include "runtime.hpp"
#include "turn_queue.hpp"

#include <zklock/detail/initiate.hpp>
#include <zklock/timer.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace zklock::detail {

/// Threads: the serial executor.
class RetryTurns : public std::enable_shared_from_this<RetryTurns> {
 public:
  RetryTurns(const std::shared_ptr<Runtime>& runtime, int per_second);

  /// Completes when it is the caller's turn; with Error::timed_out, at once, if that would not be before the deadline;
  /// with Error::closed after close(). After a cancellation other operations get the turn.
  template <class Token>
  auto async_take(Deadline deadline, Token&& token) {
    return asio::async_initiate<Token, void(error_code)>(
        [self = shared_from_this(), deadline](auto handler) { self->wait(deadline, Handler<>{std::move(handler)}); },
        token);
  }
  /// The caller has not used its turn.
  void give_back();
  /// Ends all waits, and refuses new ones.
  void close();
  /// Called when the executor is being destroyed: drops every handler.
  void abandon();

 private:
  struct Waiter;
  using Queue = TurnQueue<std::shared_ptr<Waiter>>;

  void wait(Deadline deadline, Handler<> handler);
  void answer(Waiter& waiter, error_code error);
  void hand_out();

  std::weak_ptr<Runtime> runtime_;
  Queue queue_;
  Timer timer_;
  bool closed_ = false;
};

}  // namespace zklock::detail

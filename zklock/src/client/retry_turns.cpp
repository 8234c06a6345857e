#include "retry_turns.hpp"

#include "completion.hpp"

namespace zklock::detail {

using namespace std::chrono_literals;

struct RetryTurns::Waiter {
  explicit Waiter(Handler<>&& h) : handler{std::move(h)} {}
  std::optional<Handler<>> handler;
  Queue::Place place{};
};

RetryTurns::RetryTurns(const std::shared_ptr<Runtime>& runtime, int per_second)
    : runtime_{runtime}, queue_{Clock::duration{1s} / per_second, per_second}, timer_{runtime->serial()} {}

void RetryTurns::answer(Waiter& waiter, error_code error) {
  Handler<> taken{std::move(*waiter.handler)};
  waiter.handler.reset();
  if (const auto runtime = runtime_.lock()) deliver_later(*runtime, std::move(taken), error);
}

void RetryTurns::wait(Deadline deadline, Handler<> handler) {
  const auto waiter = std::make_shared<Waiter>(std::move(handler));
  if (closed_) return answer(*waiter, make_error_code(Error::closed));
  if (deadline && queue_.turn_of_newcomer(Clock::now()) >= *deadline)
    return answer(*waiter, make_error_code(Error::timed_out));
  on_cancellation(*waiter->handler, [weak = std::weak_ptr{waiter}, turns = weak_from_this()] {
    const auto self = turns.lock();
    const auto leaving = weak.lock();
    if (!self || !leaving || !leaving->handler) return;
    self->queue_.leave(leaving->place);
    self->answer(*leaving, make_error_code(asio::error::operation_aborted));
  });
  waiter->place = queue_.enter(waiter);
  if (queue_.size() == 1) hand_out();
}

/// In portions, so that many waiters whose turns come at once do not hold up other work.
void RetryTurns::hand_out() {
  constexpr int portion = 64;
  const auto now = Clock::now();
  for (int i = 0; i < portion; ++i) {
    const auto first = queue_.take(now);
    if (!first) break;
    answer(**first, {});
  }
  const auto next = queue_.next_turn(now);
  if (!next) return;
  timer_.expires_at(*next);
  timer_.async_wait([weak = weak_from_this()](error_code error) {
    if (const auto self = weak.lock(); self && !error) self->hand_out();
  });
}

void RetryTurns::give_back() {
  queue_.give_back();
  hand_out();
}

void RetryTurns::close() {
  closed_ = true;
  timer_.cancel();
  for (const auto& waiter : queue_.clear()) answer(*waiter, make_error_code(Error::closed));
}

void RetryTurns::abandon() {
  closed_ = true;
  timer_.cancel();
  static_cast<void>(queue_.clear());
}

}  // namespace zklock::detail

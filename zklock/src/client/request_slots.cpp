#include "request_slots.hpp"

#include "completion.hpp"

namespace zklock::detail {

struct RequestSlots::Waiter {
  explicit Waiter(Handler<>&& h) : handler{std::move(h)} {}
  std::optional<Handler<>> handler;
  std::list<std::shared_ptr<Waiter>>::iterator place{};
};

bool RequestSlots::try_take() noexcept {
  if (free_ == 0 || !waiting_.empty()) return false;
  --free_;
  return true;
}

void RequestSlots::answer(Waiter& waiter, error_code error) {
  Handler<> taken{std::move(*waiter.handler)};
  waiter.handler.reset();
  if (const auto runtime = runtime_.lock()) deliver_later(*runtime, std::move(taken), error);
}

void RequestSlots::wait(Handler<> handler) {
  const auto waiter = std::make_shared<Waiter>(std::move(handler));
  if (closed_) return answer(*waiter, make_error_code(Error::closed));
  if (try_take()) return answer(*waiter, {});
  on_cancellation(*waiter->handler, [weak = std::weak_ptr{waiter}, slots = weak_from_this()] {
    const auto self = slots.lock();
    const auto leaving = weak.lock();
    if (!self || !leaving || !leaving->handler) return;
    self->waiting_.erase(leaving->place);
    self->answer(*leaving, make_error_code(asio::error::operation_aborted));
  });
  waiter->place = waiting_.insert(waiting_.end(), waiter);
}

void RequestSlots::release() {
  if (waiting_.empty()) {
    ++free_;
    return;
  }
  const auto next = std::move(waiting_.front());
  waiting_.pop_front();
  answer(*next, {});
}

void RequestSlots::close() {
  closed_ = true;
  for (const auto& waiter : std::exchange(waiting_, {})) answer(*waiter, make_error_code(Error::closed));
}

void RequestSlots::abandon() {
  closed_ = true;
  waiting_.clear();
}

}  // namespace zklock::detail

#include "lease_events.hpp"

#include <utility>

namespace zklock::detail {

namespace {

/// Signals the event when the session or the node may have changed.
///
/// Threads: the session's executor.
class LeaseMonitor : public std::enable_shared_from_this<LeaseMonitor> {
 public:
  explicit LeaseMonitor(std::shared_ptr<HeldLock> held_lock)
      : held_lock_{std::move(held_lock)}, changed_{held_lock_->open_event()}, states_{held_lock_->session().states()} {}

  [[nodiscard]] AsyncEvent& changed() noexcept { return *changed_; }

  /// Makes sure that both are watched.
  void look();

 private:
  template <class... Values>
  auto then(void (LeaseMonitor::*step)(error_code, Values...)) {
    return asio::bind_executor(held_lock_->session().get_executor(),
                               [weak = weak_from_this(), step](error_code error, Values... values) {
                                 if (const auto self = weak.lock()) (*self.*step)(error, std::move(values)...);
                               });
  }

  void on_state(error_code, SessionState) {
    hears_states_ = false;
    changed_->happen();
  }

  /// After a retryable error the watch is requested again with the next change.
  void on_node(error_code error, DataResult node, Watch watch) {
    if (error == Error::no_node) return held_lock_->lose();
    watches_node_ = !error;
    if (error) return;
    watch_ = std::move(watch);
    watch_.async_wait(then(&LeaseMonitor::on_event));
    held_lock_->on_data(node);
  }

  void on_event(error_code, WatchEvent) {
    watches_node_ = false;
    changed_->happen();
  }

  std::shared_ptr<HeldLock> held_lock_;
  std::shared_ptr<AsyncEvent> changed_;
  SessionStateStream states_;
  Watch watch_;
  bool hears_states_ = false;
  bool watches_node_ = false;
};

void LeaseMonitor::look() {
  if (!std::exchange(hears_states_, true)) states_.async_next(then(&LeaseMonitor::on_state));
  if (!watches_node_ && held_lock_->session().state() == SessionState::connected) {
    watches_node_ = true;
    held_lock_->session().async_get_data_and_watch(held_lock_->node().path, then(&LeaseMonitor::on_node));
  }
}

}  // namespace

Awaitable<error_code> await_lease_event(std::shared_ptr<LeaseShare> share, LeaseEvent awaited) {
  const std::shared_ptr<HeldLock> held_lock = share->shared_held_lock();
  const auto monitor = std::make_shared<LeaseMonitor>(held_lock);
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  for (;;) {
    const LeaseState state = share->state();
    if (state == LeaseState::lost && awaited == LeaseEvent::lost) co_return error_code{};
    if (state == LeaseState::lost) co_return make_error_code(LockError::lock_lost);
    if (state == LeaseState::released || cancellation.cancelled() != asio::cancellation_type::none)
      co_return make_error_code(asio::error::operation_aborted);
    if (awaited == LeaseEvent::revocation && held_lock->is_revoked()) co_return error_code{};
    monitor->look();
    co_await monitor->changed().wait_until(held_lock->valid_until());
  }
}

Awaitable<Result<LeaseState>> await_lease_state(std::shared_ptr<LeaseShare> share, LeaseState known) {
  const auto monitor = std::make_shared<LeaseMonitor>(share->shared_held_lock());
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  for (;;) {
    const LeaseState state = share->state();
    if (state != known) co_return state;
    if (cancellation.cancelled() != asio::cancellation_type::none)
      co_return make_error_code(asio::error::operation_aborted);
    monitor->look();
    co_await monitor->changed().wait_until(share->held_lock().valid_until());
  }
}

}  // namespace zklock::detail

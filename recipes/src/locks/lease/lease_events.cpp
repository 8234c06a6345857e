#include "lease_news.hpp"

#include <utility>

namespace zklock::detail {

namespace {

/// Opens the gate when something may have changed with the session or the node.
///
/// Threads: the session's executor.
class Lookout : public std::enable_shared_from_this<Lookout> {
 public:
  explicit Lookout(std::shared_ptr<Holding> holding)
      : holding_{std::move(holding)}, gate_{holding_->open_gate()}, states_{holding_->session().states()} {}

  [[nodiscard]] Timer& gate() noexcept { return *gate_; }

  /// Sees to it that both are watched.
  void look();

 private:
  template <class... Values>
  auto then(void (Lookout::*step)(error_code, Values...)) {
    return asio::bind_executor(holding_->session().get_executor(),
                               [weak = weak_from_this(), step](error_code error, Values... values) {
                                 if (const auto self = weak.lock()) (*self.*step)(error, std::move(values)...);
                               });
  }

  void on_state(error_code, SessionState) {
    hears_states_ = false;
    gate_->cancel();
  }

  /// An error that may pass is tried again with the next change.
  void on_node(error_code error, DataResult node, Watch watch) {
    if (error == Error::no_node) return holding_->lose();
    watches_node_ = !error;
    if (error) return;
    watch_ = std::move(watch);
    watch_.async_wait(then(&Lookout::on_event));
    holding_->on_data(node.data);
  }

  void on_event(error_code, WatchEvent) {
    watches_node_ = false;
    gate_->cancel();
  }

  std::shared_ptr<Holding> holding_;
  std::shared_ptr<Timer> gate_;
  SessionStateStream states_;
  Watch watch_;
  bool hears_states_ = false;
  bool watches_node_ = false;
};

void Lookout::look() {
  if (!std::exchange(hears_states_, true)) states_.async_next(then(&Lookout::on_state));
  if (!watches_node_ && holding_->session().state() == SessionState::connected) {
    watches_node_ = true;
    holding_->session().async_get_data_and_watch(holding_->node().path, then(&Lookout::on_node));
  }
}

}  // namespace

Awaitable<Result<Done>> await_news(std::shared_ptr<Hold> hold, LeaseNews news) {
  const std::shared_ptr<Holding> holding = hold->shared_holding();
  const auto lookout = std::make_shared<Lookout>(holding);
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  for (;;) {
    const LeaseState state = hold->state();
    if (state == LeaseState::lost && news == LeaseNews::lost) co_return Done{};
    if (state == LeaseState::lost) co_return make_error_code(Error::lock_lost);
    if (state == LeaseState::released || cancellation.cancelled() != asio::cancellation_type::none)
      co_return make_error_code(asio::error::operation_aborted);
    if (news == LeaseNews::revocation && holding->is_revoked()) co_return Done{};
    lookout->look();
    lookout->gate().expires_at(holding->session().valid_until());
    co_await lookout->gate().async_wait(use_tuple);
  }
}

}  // namespace zklock::detail

#include "fake_driver.hpp"
#include "fake_world.hpp"

#include <boost/asio/post.hpp>

namespace zklock::testing::fake {

Connection::Connection(std::shared_ptr<World> world, asio::any_io_executor executor, std::weak_ptr<Driver> driver)
    : world_{std::move(world)},
      executor_{executor},
      driver_{std::move(driver)},
      arrival_{executor},
      delivery_{executor} {}

void Connection::send(ToServer message, Work work) {
  if (!open_) return;
  const auto now = Clock::now();
  const auto arrives = now + world_->options.latency;
  const auto due = work == Work::write ? world_->end_of_write(arrives) : arrives;
  if (due == now && inbound_.empty()) return message(*world_, *this);
  inbound_.push_back({due, std::move(message)});
  if (inbound_.size() == 1) expect_arrivals();
}

void Connection::expect_arrivals() {
  if (inbound_.empty()) return;
  arrival_.expires_at(inbound_.front().due);
  arrival_.async_wait([self = shared_from_this()](error_code error) {
    if (error) return;
    const std::lock_guard lock{self->world_->mutex};
    while (!self->inbound_.empty() && self->inbound_.front().due <= Clock::now()) {
      const ToServer message = std::move(self->inbound_.front().message);
      self->inbound_.pop_front();
      message(*self->world_, *self);
    }
    self->expect_arrivals();
  });
}

void Connection::bring(ToDriver message) {
  if (!open_) return;
  outbound_.push_back({Clock::now() + world_->options.latency, std::move(message)});
  expect_deliveries();
}

void Connection::break_off(ToDriver last_word) {
  if (!std::exchange(open_, false)) return;
  held_ = false;
  inbound_.clear();
  outbound_.clear();
  arrival_.cancel();
  if (!last_word) return;
  outbound_.push_back({Clock::now(), std::move(last_word)});
  delivery_.cancel();  // ends a wait for messages that are lost now
  expect_deliveries();
}

void Connection::hold(bool on) {
  held_ = on && open_;
  expect_deliveries();
}

void Connection::expect_deliveries() {
  if (held_ || delivering_ || outbound_.empty()) return;
  delivering_ = true;
  if (outbound_.front().due <= Clock::now())
    return asio::post(executor_, [self = shared_from_this()] { self->deliver(); });
  delivery_.expires_at(outbound_.front().due);
  delivery_.async_wait([self = shared_from_this()](error_code) { self->deliver(); });
}

/// Reads all messages that have arrived before it delivers any, as from a socket.
void Connection::deliver() {
  std::vector<ToDriver> arrived;
  {
    const std::lock_guard lock{world_->mutex};
    delivering_ = false;
    while (!held_ && !outbound_.empty() && outbound_.front().due <= Clock::now()) {
      arrived.push_back(std::move(outbound_.front().message));
      outbound_.pop_front();
    }
    expect_deliveries();
  }
  const auto driver = driver_.lock();
  if (!driver || arrived.empty()) return;
  for (const ToDriver& message : arrived) message(*driver);
  driver->deliver();
}

}  // namespace zklock::testing::fake

#include "unattended.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace zklock::detail {

std::shared_ptr<Unattended> Unattended::of(Handler<> handler, const asio::any_io_executor& serial) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  auto self = std::make_shared<Unattended>(std::move(handler));
  if (slot.is_connected())
    slot.assign([serial, weak = std::weak_ptr{self}](asio::cancellation_type type) {
      if (type == asio::cancellation_type::none) return;
      asio::post(serial, [weak] {  // behind the start, which may still be queued
        if (const auto waiting = weak.lock()) waiting->complete(asio::error::operation_aborted);
      });
    });
  return self;
}

void Unattended::give_up_at(Deadline deadline, const asio::any_io_executor& serial) {
  if (!deadline) return;
  timer_.emplace(serial, *deadline);
  timer_->async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (self && !error) self->complete(make_error_code(Error::timed_out));
  });
}

void Unattended::complete(error_code outcome) {
  if (!handler_) return;
  Handler<> handler{std::move(*handler_)};
  handler_.reset();
  timer_.reset();
  std::move(handler)(outcome);
}

}  // namespace zklock::detail

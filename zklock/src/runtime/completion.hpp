// Calls of erased handlers, and their cancellation.
#pragma once

#include "runtime.hpp"

#include <zklock/detail/initiate.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace zklock {

/// Calls an erased handler. To be called on the serial executor, from which the handler goes to its own executor, and
/// never within the call that started the operation.
template <class Handler, class... Values>
void deliver(Handler&& handler, Values&&... values) {
  std::forward<Handler>(handler)(std::forward<Values>(values)...);
}

/// The same from any thread, and not from within this call. It keeps the runtime's threads until the handler is called.
template <class Handler, class... Values>
void deliver_later(Runtime& runtime, Handler&& handler, Values&&... values) {
  asio::post(runtime.serial(), [keep = runtime.shared_from_this(), handler = std::forward<Handler>(handler),
                                values = std::make_tuple(std::forward<Values>(values)...)]() mutable {
    std::apply([&](auto&&... each) { deliver(std::move(handler), std::move(each)...); }, std::move(values));
  });
}

/// Calls `cancel` when the caller cancels. That may be on any thread, and after the operation has completed, so
/// `cancel` must hold only weak references. To be used in the initiating call; afterwards the slot belongs to the
/// caller alone.
template <class Handler, class Cancel>
void on_cancellation(const Handler& handler, Cancel cancel) {
  if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
    slot.assign([cancel = std::move(cancel)](asio::cancellation_type type) {
      if (type != asio::cancellation_type::none) cancel();
    });
}

}  // namespace zklock

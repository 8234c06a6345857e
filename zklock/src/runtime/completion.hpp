// Handing results to erased handlers, and hearing of their cancellation.
#pragma once

#include "runtime.hpp"

#include <zklock/detail/operation.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace zklock {

/// Calls an erased handler on the serial executor, from which it goes its way; so never from within the call that
/// started the operation.
template <class Handler, class... Values>
void deliver(Handler&& handler, Values&&... values) {
  std::forward<Handler>(handler)(std::forward<Values>(values)...);
}

/// The same from any thread, and not from within this call. The threads that it takes stay for that long.
template <class Handler, class... Values>
void deliver_later(Runtime& runtime, Handler&& handler, Values&&... values) {
  asio::post(runtime.serial(), [keep = runtime.shared_from_this(), handler = std::forward<Handler>(handler),
                                values = std::make_tuple(std::forward<Values>(values)...)]() mutable {
    std::apply([&](auto&&... each) { deliver(std::move(handler), std::move(each)...); }, std::move(values));
  });
}

/// Calls `cancel` when the handler's owner cancels: from any thread, also after the operation has completed, so it must
/// hold nothing but weak references. Belongs into the initiating call; afterwards the slot is the caller's alone.
template <class Handler, class Cancel>
void on_cancellation(const Handler& handler, Cancel cancel) {
  if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
    slot.assign([cancel = std::move(cancel)](asio::cancellation_type type) {
      if (type != asio::cancellation_type::none) cancel();
    });
}

}  // namespace zklock

// For operations that give nothing but an error_code.
#pragma once

#include <zklock/detail/spawn.hpp>

#include <utility>
#include <variant>

namespace zklock::detail {

/// The result of a coroutine that has none.
using Done = std::monostate;

/// The erased handlers of such operations take no value.
inline Handler<Done> without_result(Handler<> handler) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  return asio::bind_cancellation_slot(
      slot, [handler = std::move(handler)](error_code error, Done) mutable { std::move(handler)(error); });
}

}  // namespace zklock::detail

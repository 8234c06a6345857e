// For operations whose only result is an error_code.
#pragma once

#include <zklock/recipe_kit/spawn.hpp>

#include <utility>
#include <variant>

namespace zklock::detail {

/// The result of a coroutine that has no result.
using Done = std::monostate;

/// Adapts the handler of such an operation, which takes no value.
inline Handler<Done> without_result(Handler<> handler) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  return asio::bind_cancellation_slot(
      slot, [handler = std::move(handler)](error_code error, Done) mutable { std::move(handler)(error); });
}

}  // namespace zklock::detail

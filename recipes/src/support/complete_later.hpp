// The end of an operation whose outcome is known when it begins.
#pragma once

#include <zklock/detail/initiate.hpp>

#include <boost/asio/any_completion_executor.hpp>

#include <utility>

namespace zklock::detail {

/// Calls an erased BoundHandler, or a handler that is bound to `serial` itself, but not within the call that begins the
/// operation. A handler with an executor of its own posts itself there; any other one is called on the serial executor,
/// and `keep` is kept until then.
///
/// Threads: any.
template <class Keep, class ErasedHandler, class... Results>
void complete_later(const asio::any_io_executor& serial, Keep keep, ErasedHandler handler, Results... results) {
  const asio::any_completion_executor by_default{serial};
  if (asio::get_associated_executor(handler, by_default) != by_default)
    return std::move(handler)(std::move(results)...);
  asio::post(serial, [keep = std::move(keep), handler = std::move(handler),
                      ... results = std::move(results)]() mutable { std::move(handler)(std::move(results)...); });
}

}  // namespace zklock::detail

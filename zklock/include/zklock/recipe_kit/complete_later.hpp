// The end of an operation whose outcome is known when it begins.
#pragma once

#include <zklock/detail/handler.hpp>

#include <boost/asio/post.hpp>

#include <type_traits>
#include <utility>

namespace zklock::detail {

/// Calls a handler, but not within the call that begins the operation. One that does not go to its executor by a post
/// is called on `serial`, and `keep` is kept until then.
///
/// Threads: any.
template <class Keep, class... Results>
void complete_later(const asio::any_io_executor& serial, Keep keep, Handler<Results...> handler, error_code error,
                    std::type_identity_t<Results>... results) {
  if (handler.goes_by_post()) return handler(error, std::move(results)...);
  asio::post(serial, [keep = std::move(keep), handler = std::move(handler), error,
                      ... results = std::move(results)]() mutable { handler(error, std::move(results)...); });
}

}  // namespace zklock::detail

// The completion token of the library's own coroutines.
#pragma once

#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace zklock {

namespace asio = boost::asio;

/// A completion token: awaiting with it gives the error_code first, and throws nothing. It is as_tuple(deferred) with
/// fewer layers, which a compiler makes anew for each operation.
struct UseTuple {};
inline constexpr UseTuple use_tuple{};

namespace detail {

/// Passes an operation's results on as one tuple.
template <class H, class... Values>
struct TupleHandler {
  H handler;

  void operator()(Values... values) { std::move(handler)(std::tuple<Values...>{std::move(values)...}); }
};

/// An operation that has not begun yet.
template <class Signature, class Initiation, class... Args>
class TupleOperation;

template <class... Values, class Initiation, class... Args>
class [[nodiscard]] TupleOperation<void(Values...), Initiation, Args...> {
 public:
  template <class I, class... A>
  explicit TupleOperation(I&& initiation, A&&... args)
      : start_{std::forward<I>(initiation), {std::forward<A>(args)...}} {}

  template <asio::completion_token_for<void(std::tuple<Values...>)> Token>
  auto operator()(Token&& token) && {
    return asio::async_initiate<Token, void(std::tuple<Values...>)>(std::move(start_), token);
  }

 private:
  struct Start {
    Initiation initiation;
    std::tuple<Args...> args;

    template <class H>
    void operator()(H handler) && {
      std::apply(
          [&](Args&... each) {
            std::move(initiation)(TupleHandler<H, Values...>{std::move(handler)}, std::move(each)...);
          },
          args);
    }
  };

  Start start_;
};

}  // namespace detail
}  // namespace zklock

template <class... Values>
struct boost::asio::async_result<zklock::UseTuple, void(Values...)> {
  template <class Initiation, class... Args>
  static auto initiate(Initiation&& initiation, zklock::UseTuple, Args&&... args) {
    return zklock::detail::TupleOperation<void(Values...), std::decay_t<Initiation>, std::decay_t<Args>...>{
        std::forward<Initiation>(initiation), std::forward<Args>(args)...};
  }
};

/// A TupleHandler has the associations (allocator, cancellation slot, executor) of the handler that it wraps.
template <template <class, class> class Associator, class H, class... Values, class Default>
struct boost::asio::associator<Associator, zklock::detail::TupleHandler<H, Values...>, Default>
    : Associator<H, Default> {
  static typename Associator<H, Default>::type get(const zklock::detail::TupleHandler<H, Values...>& tuple) noexcept {
    return Associator<H, Default>::get(tuple.handler);
  }
  static auto get(const zklock::detail::TupleHandler<H, Values...>& tuple, const Default& otherwise) noexcept {
    return Associator<H, Default>::get(tuple.handler, otherwise);
  }
};

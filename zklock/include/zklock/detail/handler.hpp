// Completion handlers whose type is erased, and the way to their executors.
#pragma once

#include <zklock/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace zklock {

namespace asio = boost::asio;

namespace detail {

/// How a handler gets to its executor when it is called. If it goes there by a post, there is work outstanding on the
/// executor until it has run, so that an io_context that only waits for a lock does not run out of work.
struct Route {
  asio::any_io_executor executor;  ///< empty: the handler runs at once
};

/// A route to an executor, with work outstanding there.
Route post_to(const asio::any_io_executor& executor);

/// What is kept of a handler. It has the handler's allocator, or else Asio's memory for operations.
class KeptHandler {
 public:
  KeptHandler(Route route, asio::cancellation_slot slot) noexcept : route_{std::move(route)}, slot_{slot} {}
  KeptHandler(const KeptHandler&) = delete;
  KeptHandler& operator=(const KeptHandler&) = delete;

  static void* operator new(std::size_t size);
  static void operator delete(void* memory, std::size_t size);

  [[nodiscard]] bool goes_by_post() const noexcept { return static_cast<bool>(route_.executor); }
  [[nodiscard]] asio::cancellation_slot slot() const noexcept { return slot_; }
  /// Calls the handler with the results that were left for it. The object is gone before that.
  virtual void run() = 0;
  virtual void destroy() noexcept = 0;
  /// Goes to the executor, and runs there.
  static void post(KeptHandler* handler);

 protected:
  virtual ~KeptHandler() = default;

 private:
  Route route_;
  asio::cancellation_slot slot_;
};

template <class... Results>
class KeptHandlerFor : public KeptHandler {
 public:
  using KeptHandler::KeptHandler;

  /// The object is gone before the handler runs.
  virtual void call(error_code error, Results... results) = 0;
  void run() final {
    auto left = std::move(*left_);
    std::apply([this](error_code error, Results&... results) { call(error, std::move(results)...); }, left);
  }
  void leave(error_code error, Results... results) { left_.emplace(error, std::move(results)...); }

 private:
  std::optional<std::tuple<error_code, Results...>> left_;
};

template <class H, class... Results>
class KeptHandlerOf final : public KeptHandlerFor<Results...> {
 public:
  using Allocator = asio::associated_allocator_t<H>;

  static KeptHandlerFor<Results...>* make(H&& handler, Route route) {
    if constexpr (std::is_same_v<Allocator, std::allocator<void>>) {
      return new KeptHandlerOf{std::move(handler), std::move(route)};
    } else {
      OwnAllocator allocator{asio::get_associated_allocator(handler)};
      KeptHandlerOf* const memory = std::allocator_traits<OwnAllocator>::allocate(allocator, 1);
      return ::new (static_cast<void*>(memory)) KeptHandlerOf{std::move(handler), std::move(route)};
    }
  }

  void call(error_code error, Results... results) override {
    H handler{std::move(handler_)};
    destroy();
    std::move(handler)(error, std::move(results)...);
  }
  void destroy() noexcept override {
    if constexpr (std::is_same_v<Allocator, std::allocator<void>>) {
      delete this;
    } else {
      OwnAllocator allocator{asio::get_associated_allocator(handler_)};
      this->~KeptHandlerOf();
      std::allocator_traits<OwnAllocator>::deallocate(allocator, this, 1);
    }
  }

 private:
  using OwnAllocator = typename std::allocator_traits<Allocator>::template rebind_alloc<KeptHandlerOf>;

  KeptHandlerOf(H&& handler, Route route)
      : KeptHandlerFor<Results...>{std::move(route), asio::get_associated_cancellation_slot(handler)},
        handler_{std::move(handler)} {}
  ~KeptHandlerOf() override = default;

  H handler_;
};

/// A handler of any type. It is called once: on the client's serial executor or, if it goes by a post, on any thread.
/// With Asio's any_completion_handler a small file takes the compiler a third longer.
template <class... Results>
class Handler {
 public:
  using cancellation_slot_type = asio::cancellation_slot;

  Handler() noexcept = default;
  template <class H>
  requires(!std::same_as<H, Handler> && std::invocable<H, error_code, Results...>)
      Handler(H handler, Route route = {})  // NOLINT: implicit, as any_completion_handler
      : kept_{KeptHandlerOf<H, Results...>::make(std::move(handler), std::move(route))} {}
  Handler(Handler&& other) noexcept : kept_{std::exchange(other.kept_, nullptr)} {}
  Handler& operator=(Handler&& other) noexcept {
    std::swap(kept_, other.kept_);
    return *this;
  }
  ~Handler() {
    if (kept_) kept_->destroy();
  }

  explicit operator bool() const noexcept { return kept_ != nullptr; }
  [[nodiscard]] bool goes_by_post() const noexcept { return kept_->goes_by_post(); }
  [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
    return kept_ ? kept_->slot() : cancellation_slot_type{};
  }

  void operator()(error_code error, Results... results) {
    auto* const kept = std::exchange(kept_, nullptr);
    if (!kept->goes_by_post()) return kept->call(error, std::move(results)...);
    kept->leave(error, std::move(results)...);
    KeptHandler::post(kept);
  }

 private:
  KeptHandlerFor<Results...>* kept_ = nullptr;
};

}  // namespace detail
}  // namespace zklock

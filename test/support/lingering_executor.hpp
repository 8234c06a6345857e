// An executor whose posts take their time.
#pragma once

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/require.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

namespace zklock::test {

/// The executor of an io_context, as a thread uses it that loses its processor in the middle of a post: the posted
/// function has run by the time the post returns, unless it takes long.
class LingeringExecutor {
 public:
  using Blocking = boost::asio::execution::blocking_t;

  /// `lingering`: how many threads are inside such a post. Both must outlive the executor.
  LingeringExecutor(boost::asio::io_context& context, std::atomic<int>& lingering) noexcept
      : context_{&context}, lingering_{&lingering} {}

  [[nodiscard]] boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
    return *context_;
  }
  [[nodiscard]] static constexpr Blocking query(Blocking) noexcept { return boost::asio::execution::blocking.never; }
  [[nodiscard]] LingeringExecutor require(Blocking::never_t) const noexcept { return *this; }
  [[nodiscard]] bool running_in_this_thread() const noexcept {
    return context_->get_executor().running_in_this_thread();
  }
  friend bool operator==(const LingeringExecutor&, const LingeringExecutor&) noexcept = default;

  template <class Function>
  void execute(Function&& function) const {
    const auto executor = boost::asio::require(context_->get_executor(), Blocking::never);
    if (running_in_this_thread()) return executor.execute(std::forward<Function>(function));
    auto ran = std::make_shared<std::promise<void>>();
    const auto done = ran->get_future();
    ++*lingering_;
    executor.execute([task = std::decay_t<Function>(std::forward<Function>(function)), ran]() mutable {
      std::move(task)();
      ran->set_value();
    });
    done.wait_for(std::chrono::milliseconds{100});
    --*lingering_;
  }

 private:
  boost::asio::io_context* context_;
  std::atomic<int>* lingering_;
};

}  // namespace zklock::test

// Runs large amounts of work in slices, between which sockets and timers are served.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/context_as.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace zklock {

namespace asio = boost::asio;

/// A queue in front of a serial executor. Its functions run on that executor, in order; but after a number of them all
/// other work of that executor runs first. So ten thousand operations that begin, fail or time out together do not hold
/// up a heartbeat.
///
/// Threads: any.
class Lane : public std::enable_shared_from_this<Lane> {
 public:
  class Executor;

  explicit Lane(asio::any_io_executor serial) : serial_{std::move(serial)} {}
  [[nodiscard]] asio::any_io_executor executor();

 private:
  struct Task {
    Task() = default;
    virtual ~Task() = default;
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    virtual void run() = 0;
  };
  struct Slice;

  void add(std::unique_ptr<Task> task);
  void post_slice();
  void run_slice();
  void drop() noexcept;
  [[nodiscard]] bool runs_here() const noexcept { return current_ == this; }

  static thread_local const Lane* current_;

  asio::any_io_executor serial_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<Task>> tasks_;
  bool posted_ = false;
  bool dropped_ = false;
};

/// The Asio executor of a Lane. A dispatch from inside the Lane runs at once.
class Lane::Executor {
 public:
  using Blocking = asio::execution::blocking_t;

  explicit Executor(std::shared_ptr<Lane> lane, bool at_once = true) noexcept
      : lane_{std::move(lane)}, at_once_{at_once} {}

  [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept {
    return asio::query(lane_->serial_, asio::execution::context_as<asio::execution_context&>);
  }
  [[nodiscard]] Blocking query(Blocking) const noexcept {
    return at_once_ ? Blocking{asio::execution::blocking.possibly} : Blocking{asio::execution::blocking.never};
  }
  [[nodiscard]] Executor require(Blocking::possibly_t) const { return Executor{lane_, true}; }
  [[nodiscard]] Executor require(Blocking::never_t) const { return Executor{lane_, false}; }
  friend bool operator==(const Executor&, const Executor&) noexcept = default;

  template <class Function>
  void execute(Function&& function) const {
    if (at_once_ && lane_->runs_here()) {
      std::decay_t<Function> task{std::forward<Function>(function)};
      return task();
    }
    lane_->add(std::make_unique<TaskOf<std::decay_t<Function>>>(std::forward<Function>(function)));
  }

 private:
  template <class Function>
  struct TaskOf final : Task {
    template <class From>
    explicit TaskOf(From&& from) : function{std::forward<From>(from)} {}
    void run() override { function(); }
    Function function;
  };

  std::shared_ptr<Lane> lane_;
  bool at_once_;
};

}  // namespace zklock

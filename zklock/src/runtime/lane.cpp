#include "lane.hpp"

#include <boost/asio/post.hpp>

namespace zklock {

namespace {

constexpr int max_in_a_slice = 64;

}  // namespace

thread_local const Lane* Lane::current_ = nullptr;

/// A run of the queue that is posted to the serial executor. If that executor is destroyed first, the queue's content
/// is dropped as well, since it holds references to the queue.
struct Lane::Slice {
  explicit Slice(std::shared_ptr<Lane> l) noexcept : lane{std::move(l)} {}
  Slice(Slice&&) noexcept = default;
  Slice& operator=(Slice&&) = delete;
  ~Slice() {
    if (lane) lane->drop();
  }
  void operator()() {
    const auto taken = std::move(lane);
    taken->run_slice();
  }
  std::shared_ptr<Lane> lane;
};

asio::any_io_executor Lane::executor() { return Executor{shared_from_this()}; }

void Lane::add(std::unique_ptr<Task> task) {
  {
    const std::lock_guard lock{mutex_};
    if (dropped_) return;
    tasks_.push_back(std::move(task));
    if (std::exchange(posted_, true)) return;
  }
  post_slice();
}

void Lane::post_slice() { asio::post(serial_, Slice{shared_from_this()}); }

void Lane::run_slice() {
  struct Scope {  // also when a handler throws
    explicit Scope(Lane& l) : lane{l}, outer{std::exchange(current_, &l)} {}
    ~Scope() {
      current_ = outer;
      {
        const std::lock_guard lock{lane.mutex_};
        if (lane.tasks_.empty()) {
          lane.posted_ = false;
          return;
        }
      }
      lane.post_slice();
    }
    Lane& lane;
    const Lane* outer;
  } scope{*this};
  for (int i = 0; i < max_in_a_slice; ++i) {
    std::unique_ptr<Task> task;
    {
      const std::lock_guard lock{mutex_};
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task->run();
  }
}

void Lane::drop() noexcept {
  std::deque<std::unique_ptr<Task>> dropped;
  const std::lock_guard lock{mutex_};
  dropped_ = true;
  dropped.swap(tasks_);
}

}  // namespace zklock

#include "runtime.hpp"

#include "block_signals.hpp"
#include "forks.hpp"

#include <zklock/detail/initiate.hpp>
#include <zklock/error.hpp>

#include <boost/asio/execution/context_as.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/system_error.hpp>

#include <semaphore>
#include <utility>
#include <vector>

#include <pthread.h>

namespace zklock {

Loop::Loop(const char* name, AtEnd at_end)
    : context_{std::make_shared<asio::io_context>(1)}, work_{context_->get_executor()}, at_end_{at_end} {
  const BlockSignals blocked;
  thread_ = std::thread{[context = context_] { context->run(); }};
  ::pthread_setname_np(thread_.native_handle(), name);
}

Loop::~Loop() {
  work_.reset();
  if (at_end_ == AtEnd::drop) context_->stop();
  if (runs_this_thread()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Loop::flush() {
  if (runs_this_thread()) return;
  std::binary_semaphore done{0};
  asio::post(*context_, [&done] { done.release(); });
  done.acquire();
}

Runtime::Runtime()
    : generation_{forks()}, io_{std::make_unique<Loop>("zklock-io", Loop::AtEnd::drop)}, serial_{io_->executor()} {}

namespace {

/// Of an io_context's executor, which most programs give, itself: not of one whose type is erased.
asio::any_io_executor strand_of(const asio::any_io_executor& given) {
  const auto* plain = given.target<asio::io_context::executor_type>();
  return plain ? asio::any_io_executor{asio::make_strand(*plain)} : asio::make_strand(given);
}

}  // namespace

Runtime::Runtime(asio::any_io_executor given) : generation_{forks()}, given_{given}, serial_{strand_of(given)} {}

bool Runtime::in_forked_child() const noexcept { return forks() != generation_; }

asio::any_io_executor Runtime::callback_executor() const {
  if (given_) return given_;
  std::call_once(callbacks_started_, [this] {
    callbacks_ = std::make_unique<Loop>("zklock-callback", Loop::AtEnd::run);
    running_callbacks_ = callbacks_.get();
  });
  return callbacks_->executor();
}

namespace {

template <class Context>
bool runs_here(const asio::any_io_executor& executor) noexcept {
  using Executor = typename Context::executor_type;
  if (const auto* plain = executor.target<Executor>()) return plain->running_in_this_thread();
  if (const auto* strand = executor.target<asio::strand<Executor>>())
    return strand->get_inner_executor().running_in_this_thread();
  return false;
}

}  // namespace

bool Runtime::blocking_would_deadlock() const noexcept {
  if (io_) return io_->runs_this_thread();
  return runs_here<asio::io_context>(given_) || runs_here<asio::thread_pool>(given_);
}

void Runtime::refuse_after_fork() const {
  if (in_forked_child())
    throw boost::system::system_error{make_error_code(Error::used_after_fork), "in the child process"};
}

namespace {

/// A context shuts its services down in the reverse order of their creation. This service is created after those of the
/// strands, so it is shut down before them, and before the scheduler, which destroys what is queued.
class EndOfContext : public asio::execution_context::service {
 public:
  using key_type = EndOfContext;
  static inline asio::execution_context::id id;

  explicit EndOfContext(asio::execution_context& context) : service{context} {}

  void add(std::weak_ptr<void> owner, std::function<void()> task) {
    const std::lock_guard lock{mutex_};
    std::erase_if(tasks_, [](const auto& each) { return each.first.expired(); });
    tasks_.emplace_back(std::move(owner), std::move(task));
  }

 private:
  void shutdown() override {
    for (const auto& [owner, task] : std::exchange(tasks_, {})) task();
  }

  std::mutex mutex_;
  std::vector<std::pair<std::weak_ptr<void>, std::function<void()>>> tasks_;
};

}  // namespace

void Runtime::at_end_of_context(std::weak_ptr<void> owner, std::function<void()> task) {
  if (!given_) return;
  auto& context = asio::query(given_, asio::execution::context_as<asio::execution_context&>);
  asio::use_service<EndOfContext>(context).add(std::move(owner), std::move(task));
}

void Runtime::flush() {
  if (io_) io_->flush();
}

void Runtime::flush_callbacks() {
  if (Loop* callbacks = running_callbacks_) callbacks->flush();
}

asio::any_io_executor detail::serial_executor(const Runtime& runtime) { return runtime.serial(); }
asio::any_io_executor detail::callback_executor(const Runtime& runtime) { return runtime.callback_executor(); }
void detail::refuse_after_fork(const Runtime& runtime) { runtime.refuse_after_fork(); }

}  // namespace zklock

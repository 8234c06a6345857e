// The threads and executors behind a Client.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace zklock {

namespace asio = boost::asio;

/// One thread that runs one io_context. It shares the ownership of the io_context, so that the Loop may end on this
/// thread.
class Loop {
 public:
  /// What happens to handlers that are still queued when the Loop ends.
  enum class AtEnd { drop, run };

  Loop(const char* name, AtEnd at_end);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] asio::any_io_executor executor() const { return context_->get_executor(); }
  [[nodiscard]] bool runs_this_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }
  /// Waits until everything posted so far has run and been destroyed.
  void flush();

 private:
  std::shared_ptr<asio::io_context> context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  AtEnd at_end_;
  std::thread thread_;
};

/// The executors of a Client's I/O and callbacks. Shared by all objects that were made from the Client.
class Runtime : public std::enable_shared_from_this<Runtime> {
 public:
  /// With zklock's own threads: one for I/O, and one for callbacks at first need.
  Runtime();
  /// Everything runs on the given executor, the I/O on a strand of it.
  explicit Runtime(asio::any_io_executor given);

  [[nodiscard]] const asio::any_io_executor& serial() const noexcept { return serial_; }
  [[nodiscard]] asio::any_io_executor callback_executor() const;
  [[nodiscard]] bool blocking_would_deadlock() const noexcept;
  [[nodiscard]] bool in_forked_child() const noexcept;
  /// Throws Error::used_after_fork: the threads, and the locks that they held, are the parent's.
  void refuse_after_fork() const;
  [[nodiscard]] bool has_own_thread() const noexcept { return io_ != nullptr; }
  /// On a given executor: calls `task` when its context shuts down and queued work will never run, if the owner still
  /// exists.
  void at_end_of_context(std::weak_ptr<void> owner, std::function<void()> task);
  /// With zklock's own threads: waits until everything posted to the I/O thread so far has run.
  void flush();
  /// The same of the callback thread. Not on the I/O thread, which a callback may wait for.
  void flush_callbacks();

 private:
  unsigned generation_;  // the number of forks when it was made
  std::unique_ptr<Loop> io_;
  mutable std::once_flag callbacks_started_;
  mutable std::unique_ptr<Loop> callbacks_;
  mutable std::atomic<Loop*> running_callbacks_{nullptr};  // the same, once it is there
  asio::any_io_executor given_;
  asio::any_io_executor serial_;
};

}  // namespace zklock

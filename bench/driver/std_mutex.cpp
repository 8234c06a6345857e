// std::mutex, for scale: what a lock costs that no other process sees.
#include "blocking_lock.hpp"

#include <mutex>
#include <vector>

namespace zklock::bench {
namespace {

class StdLock : public BlockingLock {
 public:
  explicit StdLock(std::shared_ptr<std::mutex> mutex) : mutex_{std::move(mutex)} {}
  bool acquire(const Window&) override {
    mutex_->lock();
    return true;
  }
  bool try_acquire() override { return mutex_->try_lock(); }
  void release() override { mutex_->unlock(); }

 private:
  std::shared_ptr<std::mutex> mutex_;
};

}  // namespace

LockFactory std_locks(const Task& task) {
  std::vector<std::shared_ptr<std::mutex>> mutexes;
  for (std::size_t i = 0; i < task.locks; ++i) mutexes.push_back(std::make_shared<std::mutex>());
  return [mutexes](std::size_t waiter) { return std::make_unique<StdLock>(mutexes[waiter % mutexes.size()]); };
}

}  // namespace zklock::bench

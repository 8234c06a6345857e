// The blocking subjects: zklock's std::lock_guard interface, and the other stores.
#include "blocking_lock.hpp"
#include "subject.hpp"

#include <map>
#include <stdexcept>
#include <thread>

namespace zklock::bench {
namespace {

class Blocking : public Subject {
 public:
  Blocking(const Task& task, const LockFactory& make) : task_{task} {
    for (std::size_t i = 0; i < task.waiters; ++i) locks_.push_back(make(i));
  }

  void start(Window& window) override {
    for (auto& lock : locks_) {
      threads_.emplace_back([this, &window, &lock, &tally = tallies_.add(window)] {
        task_.kind == Task::Kind::reentry ? enter_again(*lock, window, tally) : loop(*lock, window, tally);
      });
    }
  }
  void join() override {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  std::vector<Tallies*> tallies() override { return {&tallies_}; }

 private:
  static void loop(BlockingLock& lock, const Window& window, Tally& tally) {
    while (!window.stopping()) {
      const auto asked = Clock::now();
      if (!lock.acquire(window)) return;
      lock.release();
      tally.add(asked);
    }
  }
  static void enter_again(BlockingLock& lock, const Window& window, Tally& tally) {
    if (!lock.acquire(window)) return;
    while (!window.stopping()) {
      for (int i = 0; i < 100; ++i) {
        if (lock.acquire(window)) lock.release();
      }
      tally.add_many(100);
    }
    lock.release();
  }

  Task task_;
  std::vector<std::unique_ptr<BlockingLock>> locks_;
  std::vector<std::thread> threads_;
  Tallies tallies_{"locks"};
};

}  // namespace

std::unique_ptr<Subject> make_blocking(const std::string& name, const Task& task) {
  static const std::map<std::string, LockFactory (*)(const Task&)> makers{
      {"zklock-blocking", zklock_locks},
#ifdef ZKLOCK_BENCH_HIREDIS
      {"redis", redis_locks},
#endif
      {"memcached", memcached_locks},
#ifdef ZKLOCK_BENCH_MARIADB
      {"mariadb", mariadb_locks},
#endif
  };
  const auto maker = makers.find(name);
  if (maker == makers.end()) return nullptr;
  return std::make_unique<Blocking>(task, maker->second(task));
}

}  // namespace zklock::bench

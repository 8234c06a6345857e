// The blocking subjects: zklock's std::lock_guard interface, the other stores, and std::mutex.
#include "blocking_lock.hpp"
#include "subject.hpp"

#include <chrono>
#include <map>
#include <stdexcept>
#include <thread>

namespace zklock::bench {
namespace {

/// How a cycle is timed: each of them, or, where reading the clock would take longer than the cycle, none.
enum class Timing { each, none };

class Blocking : public Subject {
 public:
  Blocking(const Task& task, const LockFactory& make, Timing timing) : task_{task}, timing_{timing} {
    const bool reads = task.kind == Task::Kind::read_write;
    const std::size_t number = reads ? task.readers + task.writers : task.waiters;
    for (std::size_t i = 0; i < number; ++i) locks_.push_back(make(i));
  }

  void start(Window& window) override {
    switch (task_.kind) {
      case Task::Kind::lock:
        for (auto& lock : locks_)
          begin([this, &window, &lock, &tally = locks_done_.add(window)] {
            timing_ == Timing::each ? loop(*lock, window, tally) : loop_fast(*lock, window, tally);
          });
        break;
      case Task::Kind::reentry:
        for (auto& lock : locks_)
          begin([&window, &lock, &tally = locks_done_.add(window)] { enter_again(*lock, window, tally); });
        break;
      case Task::Kind::turns:
        begin([this, &window, &all = locks_done_.add(window), &others = others_done_.add(window)] {
          take_turns(window, all, others);
        });
        break;
      case Task::Kind::tries:
        if (!locks_.at(0)->acquire(window)) throw std::runtime_error{"the holder has not acquired the lock"};
        begin([this, &window, &tally = tries_done_.add(window)] { keep_trying(*locks_.at(1), window, tally); });
        break;
      case Task::Kind::read_write:
        for (std::size_t i = 0; i < task_.readers; ++i)
          begin([&window, &lock = *locks_[i], &tally = reads_done_.add(window)] { loop_fast(lock, window, tally); });
        for (std::size_t i = task_.readers; i < locks_.size(); ++i)
          begin([this, &window, &lock = *locks_[i], &tally = writes_done_.add(window)] { write(lock, window, tally); });
        break;
    }
  }
  void join() override {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    if (task_.kind == Task::Kind::tries) locks_[0]->release();
  }
  std::vector<Tallies*> tallies() override {
    return {&locks_done_, &reads_done_, &writes_done_, &others_done_, &tries_done_};
  }

 private:
  template <class Work>
  void begin(Work work) {
    threads_.emplace_back(std::move(work));
  }
  static void loop(BlockingLock& lock, const Window& window, Tally& tally) {
    while (!window.stopping()) {
      const auto asked = Clock::now();
      if (!lock.acquire(window)) return;
      lock.release();
      tally.add(asked);
    }
  }
  static void loop_fast(BlockingLock& lock, const Window& window, Tally& tally) {
    while (!window.stopping()) {
      if (!lock.acquire(window)) return;
      lock.release();
      tally.add_many(1);  // not many at a time: waiters that take turns would all end theirs at the same moment
    }
  }
  static void enter_again(BlockingLock& lock, const Window& window, Tally& tally) {
    if (!lock.acquire(window)) return;
    loop_fast(lock, window, tally);
    lock.release();
  }
  /// Once in a while.
  void write(BlockingLock& lock, const Window& window, Tally& tally) const {
    const std::chrono::milliseconds every{task_.write_every_ms};
    for (auto next = Clock::now(); !window.stopping();) {
      const auto asked = Clock::now();
      if (asked < next) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        continue;
      }
      if (!lock.acquire(window)) return;
      lock.release();
      tally.add(asked);
      next = asked + every;
    }
  }
  void take_turns(const Window& window, Tally& all, Tally& others) {
    while (!window.stopping()) {
      for (std::size_t i = 0; i < locks_.size(); ++i) {
        for (std::size_t left = i == 0 ? task_.turn : 1; left > 0 && !window.stopping(); --left) {
          const auto asked = Clock::now();
          if (!locks_[i]->acquire(window)) return;
          locks_[i]->release();
          all.add(asked);
          if (i > 0) others.add(asked);
        }
      }
    }
  }
  static void keep_trying(BlockingLock& lock, const Window& window, Tally& tally) {
    while (!window.stopping()) {
      const auto asked = Clock::now();
      if (lock.try_acquire()) throw std::runtime_error{"two holders"};
      tally.add(asked);
    }
  }

  Task task_;
  Timing timing_;
  std::vector<std::unique_ptr<BlockingLock>> locks_;
  std::vector<std::thread> threads_;
  Tallies locks_done_{"locks"};
  Tallies reads_done_{"reads"};
  Tallies writes_done_{"writes"};
  Tallies others_done_{"others"};
  Tallies tries_done_{"tries"};
};

struct Maker {
  LockFactory (*make)(const Task&);
  Timing timing = Timing::each;
};

}  // namespace

std::unique_ptr<Subject> make_blocking(const std::string& name, const Task& task) {
  static const std::map<std::string, Maker> makers{
      {"zklock-blocking", {zklock_locks}},
      {"zklock-kept-blocking", {zklock_kept_locks, Timing::none}},
      {"std-mutex", {std_locks, Timing::none}},
#ifdef ZKLOCK_BENCH_HIREDIS
      {"redis", {redis_locks}},
#endif
      {"memcached", {memcached_locks}},
#ifdef ZKLOCK_BENCH_MARIADB
      {"mariadb", {mariadb_locks}},
#endif
  };
  const auto found = makers.find(name);
  if (found == makers.end()) return nullptr;
  return std::make_unique<Blocking>(task, found->second.make(task), found->second.timing);
}

}  // namespace zklock::bench

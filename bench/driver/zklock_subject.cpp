// zklock, asynchronous: "zklock" awaits each release, "zklock-lease" leaves it to ~Lease, "zklock-polling" is "zklock"
// with ClientConfig::busy_poll; "zklock-observed" has an observer that counts, "zklock-audited" an audit log to a file,
// "zklock-metered" zklock::metrics.
#include "observers.hpp"
#include "subject.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <optional>
#include <stdexcept>
#include <thread>

namespace zklock::bench {
namespace {

namespace asio = boost::asio;

enum class Release { awaited, left_to_the_lease };

asio::awaitable<void> loop(const InterProcessMutex& mutex, Release release, Window& window, Tally& tally) {
  while (!window.stopping()) {
    const auto asked = Clock::now();
    Lease lease = co_await mutex.async_acquire();
    if (release == Release::awaited) co_await lease.async_release();
    lease = {};
    tally.add(asked);
  }
}

asio::awaitable<void> enter_again(const InterProcessMutex& mutex, Window& window, Tally& tally) {
  const Owner owner = Owner::make();
  Lease lease = co_await mutex.async_acquire(owner);
  while (!window.stopping()) {
    for (int i = 0; i < 100; ++i) Lease again = co_await mutex.async_acquire(owner);
    tally.add_many(100);
  }
  co_await lease.async_release();
}

class Zklock : public Subject {
 public:
  Zklock(const Task& task, Release release, std::chrono::microseconds busy_poll = {}, Heard heard = Heard::by_nobody)
      : task_{task}, release_{release} {
    thread_ = std::thread{[this] { context_.run(); }};
    ClientConfig config{.connect_string = task.servers,
                        .session_timeout = std::chrono::milliseconds{task.session_timeout_ms},
                        .busy_poll = busy_poll,
                        .sessions = task.sessions,
                        .observers = make_observers(heard)};
    client_.emplace(context_.get_executor(), std::move(config));
    if (!client_->wait_connected(std::chrono::seconds{20})) throw std::runtime_error{"no connection"};
  }
  ~Zklock() override {
    client_->async_close(asio::use_future).wait();
    work_.reset();
    thread_.join();
  }

  void start(Window& window) override {
    // The waiters start on the client's own thread, as a service's would.
    asio::co_spawn(context_, start_all(window), asio::use_future).get();
  }
  void join() override {
    for (auto& worker : workers_) worker.get();
    workers_.clear();
    mutexes_.clear();
  }
  std::vector<Tallies*> tallies() override { return {&locks_, &reads_, &writes_}; }

 private:
  asio::awaitable<void> start_all(Window& window) {
    switch (task_.kind) {
      case Task::Kind::lock:
        for (std::size_t i = 0; i < task_.waiters; ++i)
          add(InterProcessMutex{*client_, task_.lock_path(i)}, window, locks_);
        break;
      case Task::Kind::read_write: {
        for (std::size_t i = 0; i < task_.readers + task_.writers; ++i) {
          InterProcessReadWriteLock lock{*client_, task_.lock_path(0)};
          if (i < task_.readers) {
            add(std::move(lock.read_lock()), window, reads_);
          } else {
            add(std::move(lock.write_lock()), window, writes_);
          }
        }
        break;
      }
      case Task::Kind::reentry: {
        mutexes_.emplace_back(*client_, task_.lock_path(0));
        workers_.push_back(
            asio::co_spawn(context_, enter_again(mutexes_.back(), window, locks_.add(window)), asio::use_future));
        break;
      }
    }
    co_return;
  }

  void add(InterProcessMutex mutex, Window& window, Tallies& tallies) {
    mutexes_.push_back(std::move(mutex));
    workers_.push_back(
        asio::co_spawn(context_, loop(mutexes_.back(), release_, window, tallies.add(window)), asio::use_future));
  }

  Task task_;
  Release release_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(context_);
  std::thread thread_;
  std::optional<Client> client_;
  std::deque<InterProcessMutex> mutexes_;
  std::vector<std::future<void>> workers_;
  Tallies locks_{"locks"};
  Tallies reads_{"reads"};
  Tallies writes_{"writes"};
};

}  // namespace

std::unique_ptr<Subject> make_zklock(const std::string& name, const Task& task) {
  if (name == "zklock") return std::make_unique<Zklock>(task, Release::awaited);
  if (name == "zklock-lease") return std::make_unique<Zklock>(task, Release::left_to_the_lease);
  if (name == "zklock-polling") return std::make_unique<Zklock>(task, Release::awaited, std::chrono::microseconds{200});
  const auto heard = [&task](Heard by) {
    return std::make_unique<Zklock>(task, Release::awaited, std::chrono::microseconds{}, by);
  };
  if (name == "zklock-observed") return heard(Heard::by_a_counter);
  if (name == "zklock-metered") return heard(Heard::by_metrics);
  if (name == "zklock-audited") return heard(Heard::by_an_audit_log);
  return nullptr;
}

}  // namespace zklock::bench

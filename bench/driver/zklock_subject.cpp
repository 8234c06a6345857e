// zklock, asynchronous: "zklock" awaits each release, "zklock-lease" leaves it to ~Lease, "zklock-polling" is "zklock"
// with ClientConfig::busy_poll; "zklock-observed" has an observer that counts, "zklock-audited" an audit log to a file,
// "zklock-metered" zklock::metrics. The client of "zklock-kept" keeps the lock, and that of "zklock-kept-silent" does so
// silently.
#include "observers.hpp"
#include "subject.hpp"
#include "zklock_work.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <deque>
#include <future>
#include <map>
#include <stdexcept>
#include <thread>

namespace zklock::bench {
namespace {

/// One way to use zklock: what the subjects differ in.
struct How {
  Release release = Release::awaited;
  std::chrono::microseconds busy_poll{0};
  Heard heard = Heard::by_nobody;
  LockSettings settings{};
};

class Zklock : public Subject {
 public:
  Zklock(const Task& task, const How& how) : task_{task}, how_{how} {
    thread_ = std::thread{[this] { context_.run(); }};
    for (std::size_t i = 0; i < task.clients; ++i) {
      ClientConfig config{.connect_string = task.servers,
                          .session_timeout = std::chrono::milliseconds{task.session_timeout_ms},
                          .busy_poll = how.busy_poll,
                          .sessions = task.sessions,
                          .observers = make_observers(how.heard)};
      clients_.emplace_back(context_.get_executor(), std::move(config));
    }
    for (Client& client : clients_)
      if (!client.wait_connected(std::chrono::seconds{20})) throw std::runtime_error{"no connection"};
  }
  ~Zklock() override {
    for (Client& client : clients_) client.async_close(asio::use_future).wait();
    work_.reset();
    thread_.join();
  }

  void start(Window& window) override {
    // The waiters start on the clients' own thread, as a service's would.
    asio::co_spawn(context_, start_all(window), asio::use_future).get();
  }
  void join() override {
    for (auto& worker : workers_) worker.get();
    workers_.clear();
    holder_ = {};
    mutexes_.clear();
  }
  std::vector<Tallies*> tallies() override { return {&locks_, &reads_, &writes_, &others_, &tries_}; }

 private:
  [[nodiscard]] Client& client(std::size_t waiter) { return clients_[waiter % clients_.size()]; }
  InterProcessMutex& add_mutex(std::size_t waiter) {
    return mutexes_.emplace_back(client(waiter), task_.lock_path(waiter), how_.settings);
  }
  InterProcessMutex& add_half(std::size_t waiter) {
    InterProcessReadWriteLock lock{client(waiter), task_.lock_path(0), how_.settings};
    return mutexes_.emplace_back(std::move(waiter < task_.readers ? lock.read_lock() : lock.write_lock()));
  }
  void begin(asio::awaitable<void> work) {
    workers_.push_back(asio::co_spawn(context_, std::move(work), asio::use_future));
  }

  asio::awaitable<void> start_all(Window& window) {
    constexpr std::chrono::milliseconds at_once{0};
    switch (task_.kind) {
      case Task::Kind::lock:
        for (std::size_t i = 0; i < task_.waiters; ++i)
          begin(loop(add_mutex(i), how_.release, at_once, window, locks_.add(window)));
        break;
      case Task::Kind::read_write:
        for (std::size_t i = 0; i < task_.readers; ++i)
          begin(loop(add_half(i), how_.release, at_once, window, reads_.add(window)));
        for (std::size_t i = task_.readers; i < task_.readers + task_.writers; ++i)
          begin(loop(add_half(i), how_.release, std::chrono::milliseconds{task_.write_every_ms}, window,
                     writes_.add(window)));
        break;
      case Task::Kind::reentry: begin(enter_again(add_mutex(0), window, locks_.add(window))); break;
      case Task::Kind::turns:
        for (std::size_t i = 0; i < task_.waiters; ++i) add_mutex(i);
        begin(take_turns(mutexes_, how_.release, task_.turn, window, locks_.add(window), others_.add(window)));
        break;
      case Task::Kind::tries:
        holder_ = co_await add_mutex(0).async_acquire();
        begin(keep_trying(add_mutex(1), window, tries_.add(window)));
        break;
    }
  }

  Task task_;
  How how_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(context_);
  std::thread thread_;
  std::deque<Client> clients_;
  std::deque<InterProcessMutex> mutexes_;
  Lease holder_;
  std::vector<std::future<void>> workers_;
  Tallies locks_{"locks"};
  Tallies reads_{"reads"};
  Tallies writes_{"writes"};
  Tallies others_{"others"};
  Tallies tries_{"tries"};
};

}  // namespace

std::unique_ptr<Subject> make_zklock(const std::string& name, const Task& task) {
  static const std::map<std::string, How> ways{
      {"zklock", {}},
      {"zklock-lease", {.release = Release::left_to_the_lease}},
      {"zklock-polling", {.busy_poll = std::chrono::microseconds{200}}},
      {"zklock-kept", {.settings = {.keep = std::chrono::seconds{2}}}},
      {"zklock-kept-silent", {.settings = {.keep = std::chrono::seconds{2}, .keeping = Keeping::silent}}},
      {"zklock-observed", {.heard = Heard::by_a_counter}},
      {"zklock-metered", {.heard = Heard::by_metrics}},
      {"zklock-audited", {.heard = Heard::by_an_audit_log}},
  };
  const auto found = ways.find(name);
  return found == ways.end() ? nullptr : std::make_unique<Zklock>(task, found->second);
}

}  // namespace zklock::bench

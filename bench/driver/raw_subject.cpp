// The lower bound: a state machine on the C client that does what a lock must do, without handling of faults. "raw"
// creates and lists in one flight and deletes in another; "raw-lease" does not await the delete; "raw-serial" takes
// three flights, as Curator's recipe and the C client's own do.
#include "raw_session.hpp"
#include "subject.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <exception>
#include <thread>

#include <poll.h>

namespace zklock::bench {
namespace {

enum class Flights { one, two, three };

/// Loops: enqueue, hold, release. Every callback gets it as its data.
class Waiter {
 public:
  Waiter(RawSession& session, std::string directory, Flights flights, Window& window, Tally& tally)
      : session_{session}, directory_{std::move(directory)}, flights_{flights}, window_{window}, tally_{tally} {}

  void start() {
    ++under_way_;
    asked_ = Clock::now();
    const std::string prefix = directory_ + "/lock-";
    check_raw(zoo_acreate(session_.handle(), prefix.c_str(), "bench", 5, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL,
                          on_created, this),
              "zoo_acreate");
    if (flights_ != Flights::three) list();
  }
  [[nodiscard]] bool done() const noexcept { return done_ && under_way_ == 0; }

 private:
  static Waiter& of(const void* data) { return *static_cast<Waiter*>(const_cast<void*>(data)); }

  void list() {
    ++under_way_;
    check_raw(zoo_aget_children(session_.handle(), directory_.c_str(), 0, on_listed, this), "zoo_aget_children");
  }
  static void on_created(int code, const char* name, const void* data) {
    check_raw(code, "create");
    Waiter& self = of(data);
    --self.under_way_;
    self.node_ = name + self.directory_.size() + 1;
    if (self.flights_ == Flights::three) self.list();
  }
  static void on_listed(int code, const String_vector* children, const void* data) {
    check_raw(code, "get_children");
    Waiter& self = of(data);
    --self.under_way_;
    const char* predecessor = nullptr;
    for (std::int32_t i = 0; i < children->count; ++i) {
      const char* name = children->data[i];
      if (std::strcmp(name, self.node_.c_str()) < 0 && (predecessor == nullptr || std::strcmp(name, predecessor) > 0))
        predecessor = name;
    }
    predecessor == nullptr ? self.give_back() : self.watch(predecessor);
  }
  void watch(const char* predecessor) {
    ++under_way_;
    const std::string path = directory_ + "/" + predecessor;
    check_raw(zoo_awget_children(session_.handle(), path.c_str(), on_gone, this, on_watched, this),
              "zoo_awget_children");
  }
  static void on_watched(int code, const String_vector*, const void* data) {
    Waiter& self = of(data);
    --self.under_way_;
    if (code == ZNONODE) return self.list();
    check_raw(code, "get_children");
  }
  static void on_gone(zhandle_t*, int type, int, const char*, void* data) {
    if (type == ZOO_DELETED_EVENT) of(data).list();
  }
  void give_back() {
    ++under_way_;
    const std::string path = directory_ + "/" + node_;
    check_raw(zoo_adelete(session_.handle(), path.c_str(), -1, on_deleted, this), "zoo_adelete");
    if (flights_ == Flights::one) end_cycle();
  }
  static void on_deleted(int code, const void* data) {
    check_raw(code, "delete");
    Waiter& self = of(data);
    --self.under_way_;
    if (self.flights_ != Flights::one) self.end_cycle();
  }
  void end_cycle() {
    tally_.add(asked_);
    window_.stopping() ? void(done_ = true) : start();
  }

  RawSession& session_;
  std::string directory_;
  Flights flights_;
  Window& window_;
  Tally& tally_;
  Clock::time_point asked_;
  std::string node_;
  int under_way_ = 0;
  bool done_ = false;
};

class Raw : public Subject {
 public:
  Raw(const Task& task, Flights flights) : task_{task}, flights_{flights} {
    for (std::size_t i = 0; i < task.sessions; ++i)
      sessions_.emplace_back(task.servers, std::chrono::milliseconds{task.session_timeout_ms});
    for (std::size_t i = 0; i < task.locks; ++i) sessions_[0].create_directory(task.lock_path(i));
  }
  ~Raw() override { rest(); }

  void start(Window& window) override {
    rest();
    thread_ = std::thread{[this, &window] { work(window); }};
  }
  void join() override {
    thread_.join();
    if (thrown_) std::rethrow_exception(thrown_);
    resting_ = true;
    thread_ = std::thread{[this] { idle(); }};
  }
  std::vector<Tallies*> tallies() override { return {&tallies_}; }

 private:
  void work(Window& window) try {
    std::deque<Waiter> waiters;
    for (std::size_t i = 0; i < task_.waiters; ++i) {
      waiters.emplace_back(sessions_[i % sessions_.size()], task_.lock_path(i), flights_, window, tallies_.add(window));
      waiters.back().start();
    }
    while (!std::all_of(waiters.begin(), waiters.end(), [](const Waiter& waiter) { return waiter.done(); })) {
      // The condition is checked only now and then: its cost grows with the number of waiters.
      for (std::size_t i = 0; i < 64; ++i) turn(std::chrono::milliseconds{window.stopping() ? 1 : 100});
    }
  } catch (...) {
    thrown_ = std::current_exception();
  }
  /// Keeps the sessions alive between two runs.
  void idle() try {
    while (resting_) turn(std::chrono::milliseconds{20});
  } catch (...) {
    thrown_ = std::current_exception();
  }
  void rest() {
    resting_ = false;
    if (thread_.joinable()) thread_.join();
  }

  void turn(std::chrono::milliseconds limit) {
    requests_.clear();
    for (RawSession& session : sessions_) {
      const auto wish = session.interest(limit);
      requests_.push_back({wish.descriptor, wish.events, 0});
    }
    ::poll(requests_.data(), requests_.size(), static_cast<int>(limit.count()));
    for (std::size_t i = 0; i < requests_.size(); ++i)
      if (requests_[i].revents != 0) sessions_[i].process(requests_[i].revents);
  }

  Task task_;
  Flights flights_;
  std::deque<RawSession> sessions_;
  std::vector<pollfd> requests_;
  std::thread thread_;
  std::atomic<bool> resting_{false};
  std::exception_ptr thrown_;
  Tallies tallies_{"locks"};
};

}  // namespace

std::unique_ptr<Subject> make_raw(const std::string& name, const Task& task) {
  if (task.kind != Task::Kind::lock) return nullptr;
  if (name == "raw") return std::make_unique<Raw>(task, Flights::two);
  if (name == "raw-lease") return std::make_unique<Raw>(task, Flights::one);
  if (name == "raw-serial") return std::make_unique<Raw>(task, Flights::three);
  return nullptr;
}

}  // namespace zklock::bench

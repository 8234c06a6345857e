// A local writer behind two nodes of its client, which are given back one after the other: of several handoffs to it
// only the last one says whether its node exists.
#include "lease_fixture.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/owner.hpp>

#include <list>
#include <ostream>
#include <string>

using namespace zklock;
using namespace zklock::testing;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

/// What happens, and when: in milliseconds after the first one ahead is given back.
struct Course {
  bool is_downgrade;  // the two ahead: a writer and its owner's reader; else two readers
  bool awaits_first;  // the server's reply to the delete
  bool awaits_second;
  int cut;       // the link; beyond the end: never
  int second;    // is given back
  int act;       // of the operator, or the caller
  bool cancels;  // the caller cancels the acquire, and acquires anew; else an operator deletes the waiter's node

  friend std::ostream& operator<<(std::ostream& out, const Course& course) {
    return out << "downgrade " << course.is_downgrade << ", awaits " << course.awaits_first << course.awaits_second
               << ", cut " << course.cut << ", second " << course.second << ", act " << course.act << ", cancels "
               << course.cancels;
  }
};

class Handoffs {
 public:
  explicit Handoffs(Course course) : course_{course} {
    simulation_.actor([this] { return play(); });
    simulation_.run();
    INFO(course_);
    INFO((simulation_.failures().empty() ? std::string{} : simulation_.failures().front()));
    CHECK(simulation_.failures().empty());
  }
  /// The last handoff told that the waiter's node was gone, and nothing else did.
  [[nodiscard]] bool was_telling() const { return was_granted_ && must_know_; }

 private:
  asio::awaitable<void> enqueue(bool is_first) {
    const auto before = simulation_.ensemble().nodes();
    lock_.write_lock().async_acquire(
        asio::bind_cancellation_slot(signals_.emplace_back().slot(),
                                     asio::bind_executor(simulation_.executor(), [this](error_code error, Lease lease) {
                                       if (!error) local_ = std::move(lease);
                                     })));
    co_await pause(is_first ? 100ms : 0ms);
    for (const FakeNode& node : simulation_.ensemble().nodes())
      if (std::ranges::none_of(before, [&](const auto& other) { return other.path == node.path; })) node_ = node.path;
  }

  static void give_back(Lease& lease, bool awaits) {
    if (awaits)
      lease.async_release([](error_code) {});
    else
      lease = Lease{};
  }

  [[nodiscard]] bool is_connected() { return simulation_.client("a").session().state() == SessionState::connected; }

  asio::awaitable<void> play() {
    simulation_.ensemble().set_latency(5ms);
    const Owner owner = Owner::make();
    if (course_.is_downgrade) {
      first_ = co_await lock_.write_lock().async_acquire(owner);
      co_await enqueue(true);
      second_ = co_await lock_.read_lock().async_acquire(owner);
    } else {
      second_ = co_await lock_.read_lock().async_acquire();
      first_ = co_await lock_.read_lock().async_acquire();
      co_await enqueue(true);
    }
    theirs_.write_lock().async_acquire(asio::bind_executor(simulation_.executor(), [this](error_code, Lease lease) {
      is_foreign_granted_ = true;
      foreign_ = std::move(lease);
    }));
    co_await pause(100ms);
    const std::string second_node = second_.node_path();
    bool is_deleted = false;
    for (int now = -2; now < 60; ++now) {
      if (now == course_.cut) simulation_.ensemble().cut(simulation_.client("a").session().id());
      if (now == 0) give_back(first_, course_.awaits_first);
      if (now == course_.second) {
        is_linked_ = is_connected() && (course_.cut < now || course_.cut >= 60);
        give_back(second_, course_.awaits_second);
      }
      if (now == course_.act && course_.cancels) {
        signals_.back().emit(asio::cancellation_type::terminal);
        local_ = Lease{};
        co_await enqueue(false);
      } else if (now == course_.act && exists(simulation_, node_)) {
        is_deleted = true;
        must_know_ = exists(simulation_, second_node);
        simulation_.delete_as_operator(node_);
      }
      co_await pause(1ms);
      was_granted_ = was_granted_ || local_.state() != LeaseState::released;
      must_know_ = must_know_ && is_linked_;
      const bool overlap = local_.is_held() && foreign_.is_held();
      if (overlap && (!is_deleted || must_know_)) simulation_.fail("two have the lock");
    }
    co_await pause(1s);
    for (Lease* each : {&local_, &first_, &second_}) *each = Lease{};
    co_await pause(1s);
    if (!is_foreign_granted_) simulation_.fail("the other client does not get the lock");
    foreign_ = Lease{};
    co_await pause(1s);
    local_ = Lease{};
  }

  Course course_;
  Simulation simulation_;
  InterProcessReadWriteLock lock_{simulation_.client("a", config()), directory};
  InterProcessReadWriteLock theirs_{simulation_.client("b", config()), directory};
  std::list<asio::cancellation_signal> signals_;  // one for each acquire
  Lease first_, second_, local_, foreign_;
  std::string node_;
  bool is_linked_ = true;
  bool must_know_ = false;
  bool was_granted_ = false;
  bool is_foreign_granted_ = false;
};

}  // namespace

TEST_CASE("no reply to an earlier handoff says that the node of a waiter exists") {
  const bool is_downgrade = GENERATE(false, true);
  int telling = 0;
  for (const bool awaits_first : {false, true})
    for (const bool awaits_second : {false, true})
      for (const int cut : {-1, 3, 7, 100})
        for (const int second : {0, 1, 4, 9, 10, 11, 13, 18, 30})
          for (const int act : {2, 6, 10, 14, 20})
            for (const bool cancels : {false, true})
              if (Handoffs{Course{is_downgrade, awaits_first, awaits_second, cut, second, act, cancels}}.was_telling())
                ++telling;
  CHECK(telling > 10);
}

// What the tests of worker ids on the fake ensemble have in common: wall clocks that a test sets, and a book of who has used
// which time stamps.
#pragma once

#include <zklock/recipes/worker_ids/worker_ids.hpp>
#include <zklock/testing/simulation.hpp>

#include <algorithm>
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace zklock::test {

using TimeStamp = WorkerId::TimeStamp;

/// As far ahead of the fake ensemble's time as it is set.
struct WallClock {
  std::chrono::milliseconds ahead{0};

  [[nodiscard]] TimeStamp now() const {
    const auto since = std::chrono::floor<std::chrono::milliseconds>(Clock::now().time_since_epoch());
    return TimeStamp{std::chrono::hours{24 * 365 * 55} + since + ahead};
  }
};

inline WorkerIdSettings settings(int count, const std::shared_ptr<WallClock>& clock) {
  return {.count = count, .clock = [clock] { return std::chrono::system_clock::time_point{clock->now()}; }};
}

/// Who holds which number, and the time stamps that they have used with it.
class WorkerBook {
 public:
  struct Holder {
    std::string name;
    WorkerId id;
    int number = 0;
    std::optional<TimeStamp> first{};
    std::optional<TimeStamp> last{};
  };

  explicit WorkerBook(testing::Simulation& simulation) : simulation_{simulation} {}

  Holder& enter(std::string name, WorkerId id) {
    const int number = id.number();
    return holders_.emplace_back(Holder{std::move(name), std::move(id), number});
  }
  /// All use whatever they may, at any time.
  void use_all() {
    for (Holder& each : holders_) use(each);
  }
  void check_alone() {
    for (const Holder& one : holders_)
      for (const Holder& other : holders_)
        if (&one < &other && one.number == other.number && one.id.is_held() && other.id.is_held())
          simulation_.fail(one.name + " and " + other.name + " hold one number");
  }
  [[nodiscard]] bool has_used(const std::string& name) const {
    return std::ranges::any_of(holders_, [&](const Holder& each) { return each.name == name && each.first; });
  }

 private:
  void use(Holder& user) {
    const auto stamp = user.id.try_time_stamp();
    if (!stamp) return;
    if (user.last && *stamp < *user.last) simulation_.fail(user.name + "'s time stamps go back");
    if (!user.first) user.first = stamp;
    user.last = stamp;
    for (const Holder& other : holders_)
      if (&other != &user && other.number == user.number && other.first && *other.first <= *user.last &&
          *user.first <= *other.last)
        simulation_.fail(user.name + " uses a time stamp of " + other.name);
  }

  testing::Simulation& simulation_;
  std::list<Holder> holders_;
};

}  // namespace zklock::test

// An observer that keeps books: what has begun, what has ended, and what is under way.
#pragma once

#include <zklock/observer.hpp>
#include <zklock/recipes/locks/lock_observer.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace zklock::test {

/// Threads: any.
class EventBooks : public Observer, public LockObserver {
 public:
  /// Things of one sort, each with one beginning and one end.
  struct Account {
    std::uint64_t begun = 0;
    std::uint64_t ended = 0;
    std::multiset<std::uint64_t> under_way{};

    void begin(std::uint64_t number) {
      ++begun;
      under_way.insert(number);
    }
    /// False: it is not under way.
    bool end(std::uint64_t number) {
      ++ended;
      const auto found = under_way.find(number);
      if (found == under_way.end()) return false;
      under_way.erase(found);
      return true;
    }
    [[nodiscard]] bool balances() const { return begun == ended + under_way.size(); }
  };

  struct Seen {
    Account attempts{};
    Account grants{};
    Account requests{};
    Account cleanups{};
    std::map<LockPhase, std::uint64_t> phases{};
    std::vector<std::string> mistakes{};

    [[nodiscard]] bool balances() const {
      return mistakes.empty() && attempts.balances() && grants.balances() && requests.balances() && cleanups.balances();
    }
    [[nodiscard]] bool nothing_under_way() const {
      return balances() && attempts.under_way.empty() && grants.under_way.empty() && requests.under_way.empty() &&
             cleanups.under_way.empty();
    }
  };

  /// Counts the locks of these kinds only: a semaphore acquires a mutex for each permit.
  explicit EventBooks(std::set<LockKind> kinds = {LockKind::mutex, LockKind::read, LockKind::write})
      : kinds_{std::move(kinds)} {}

  [[nodiscard]] Seen seen() const {
    const std::lock_guard lock{mutex_};
    return seen_;
  }

  void on_lock(const LockEvent& event) override {
    const std::lock_guard lock{mutex_};
    if (!kinds_.contains(event.kind)) return;
    ++seen_.phases[event.phase];
    const bool is_attempt_end =
        event.phase == LockPhase::reentered ? event.waited.has_value() : ends_attempt(event.phase);
    if (event.phase == LockPhase::asked) seen_.attempts.begin(event.attempt);
    if (is_attempt_end && !is_further_permit(event)) end(seen_.attempts, event.attempt, event.phase);
    if (event.phase == LockPhase::granted) {
      seen_.grants.begin(event.attempt);
      granted_.insert(event.attempt);
    }
    if (event.phase == LockPhase::released || event.phase == LockPhase::lost)
      end(seen_.grants, event.attempt, event.phase);
  }

  void on_request(const RequestEvent& event) override {
    const std::lock_guard lock{mutex_};
    if (event.phase == RequestPhase::begun) return seen_.requests.begin(event.number);
    if (!seen_.requests.end(event.number)) mistake("a request ends that is not under way: ", event.number);
  }

  void on_cleanup(const CleanupEvent& event) override {
    const std::lock_guard lock{mutex_};
    if (event.phase == CleanupPhase::pending) return seen_.cleanups.begin(event.number);
    if (!seen_.cleanups.end(event.number)) mistake("a cleanup ends that is not under way: ", event.number);
  }

 private:
  /// Of several permits each has a `granted`; the first one ends the attempt.
  [[nodiscard]] bool is_further_permit(const LockEvent& event) const {
    return event.kind == LockKind::permit && event.phase == LockPhase::granted && granted_.contains(event.attempt);
  }
  void end(Account& account, std::uint64_t number, LockPhase phase) {
    if (!account.end(number)) mistake(std::string{to_string(phase)} + " of what is not under way: ", number);
  }
  void mistake(const std::string& what, std::uint64_t number) {
    seen_.mistakes.push_back(what + std::to_string(number));
  }

  std::set<LockKind> kinds_;
  std::set<std::uint64_t> granted_;
  mutable std::mutex mutex_;
  Seen seen_;
};

}  // namespace zklock::test

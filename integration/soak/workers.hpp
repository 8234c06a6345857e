// Threads that do, in random order, everything that leaves something behind if it is done wrongly.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {
class Session;
}

namespace zklock::test {

/// What a worker can do in a turn.
enum class Deed { read, watch, create, transact, lock, lock_in_thread, give_up_lock, subscribe, make_client };
inline constexpr std::size_t deeds = 9;
[[nodiscard]] std::string_view to_string(Deed deed) noexcept;

/// Workers, each with a client and a thread of its own. The same seed gives each worker the same turns. How they meet
/// depends on the machine.
class Workers {
 public:
  /// Each client connects to one of the addresses; every third keeps two sessions. Throws when one cannot connect.
  Workers(std::vector<std::string> addresses, std::size_t count, std::uint64_t seed);
  ~Workers();
  Workers(const Workers&) = delete;

  /// Lets each worker finish its turn and drop what it keeps between turns. False: a worker does not come to its end,
  /// or a client does not connect again.
  [[nodiscard]] bool rest();
  void go_on();
  void stop();

  /// The current session of a worker's client.
  [[nodiscard]] Session session(std::size_t worker) const;
  [[nodiscard]] std::size_t count() const noexcept { return workers_.size(); }
  /// What went wrong: an operation that did not end, or failed with an error that no fault explains. Empty: nothing.
  [[nodiscard]] std::string failure() const;
  [[nodiscard]] std::int64_t turns() const noexcept;
  /// How often each kind of operation was done, and how often without an error.
  [[nodiscard]] std::string summary() const;

 private:
  struct Worker;
  struct Count {
    std::atomic<std::int64_t> tried{0};
    std::atomic<std::int64_t> done{0};
  };

  enum class State { working, resting, stopping };
  [[nodiscard]] State state() const;
  void enter(State state);
  /// For a worker's thread: returns when the workers go on, or stop.
  void rest_here();

  std::vector<std::string> addresses_;
  std::array<Count, deeds> counts_{};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::working;
  std::size_t at_rest_ = 0;
  std::string failure_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace zklock::test

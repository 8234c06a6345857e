// A user that wants locks of every kind, again and again.
#pragma once

#include "layout.hpp"
#include "register.hpp"
#include "support/await.hpp"

#include <zklock/client.hpp>
#include <zklock/recipes/leader/candidacy.hpp>
#include <zklock/recipes/leader/leader_election.hpp>
#include <zklock/recipes/leader/leadership.hpp>
#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>
#include <zklock/recipes/locks/lock_registry.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace zklock::chaos {

/// What the users of a process share.
struct Workplace {
  const Client& client;
  const Log& log;
  int process;
  std::uint16_t register_port;
  std::chrono::milliseconds session_timeout;
  std::uint64_t long_stays;  ///< of a thousand
  std::atomic<std::int64_t> operations{0};
  std::atomic<bool> closing_time{false};
};

/// A user that waits this long is killed, and its log tells.
inline constexpr std::chrono::milliseconds for_ever = std::chrono::hours{1};

inline constexpr auto unlimited = std::chrono::milliseconds::max();

/// The error as one word of a log.
[[nodiscard]] std::string reason_of(error_code error);

/// The turns of one thread. The same seed gives the same turns. How they meet depends on the machine.
class User {
 public:
  User(Workplace& workplace, std::uint64_t seed);
  /// Runs until closing time.
  void run();

 private:
  /// A held lock, of whatever class its holder is.
  struct Held {
    std::string lock;
    Share share;
    std::int64_t token;
    std::int64_t operation;
    std::function<bool()> is_lost;                                   // empty: only the release tells
    std::function<Clock::time_point()> valid_until;                  // empty: not supported
    std::function<error_code()> mark;                                // empty: not supported
    std::function<void(std::function<void(error_code)>)> wait_lost;  // empty: not supported
  };

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::chrono::milliseconds some_limit();
  std::string some_line(const std::string& kind);
  std::string kept_line(const std::string& kind);
  std::string some_election();
  [[nodiscard]] LeaderElection election_on(const std::string& line) const;
  void open_registry();

  void use_mutex();
  void nest();
  void read();
  void write();
  void downgrade();
  void take_permits();
  void use_semaphore_mutex();
  void use_several();
  void lead();
  void stand();
  void lead_by_body();
  void use_kept();
  void use_kept_read_write();
  void use_kept_semaphore_mutex();
  void give_watches_up();
  void use_once(InterProcessMutex& mutex, const std::string& kind, const std::string& line, Share share = Share::alone);
  void use_once(InterProcessSemaphoreMutex& mutex, const std::string& kind, const std::string& line);
  void use_by_name(const std::string& kind, const std::string& line, Isolation isolation);

  /// Waits in the queue, for ever or with a limit, and sometimes cancels. Notes how it begins and how it ends. `start`
  /// takes a handler, or a limit and a handler.
  template <class Result, class Start>
  std::optional<Result> acquire(std::int64_t operation, const std::string& kind, const std::string& lock, Start start);
  /// The same for a blocking acquire: without a limit, or with one, and says whether it has the lock.
  template <class Block>
  bool acquire_blocking(std::int64_t operation, const std::string& kind, const std::string& lock, Block block);

  template <class Holder>
  Held held_by(Holder& holder, std::string lock, Share share, std::int64_t operation);
  Held held_by(const std::shared_ptr<CandidacyStream>& standing, std::string lock, std::int64_t token,
               std::int64_t operation);
  /// Uses the resource that one lease protects, and releases the lease.
  void use(Lease lease, const std::string& line, Share share, std::int64_t operation);
  void note_granted(const Held& held);
  void visit(const std::vector<Held>& all);
  void stay(const std::vector<Held>& all);
  void note_trust(const Held& held);
  void note_invoked(std::int64_t operation, const std::string& kind, const std::string& lock,
                    std::chrono::milliseconds limit);
  void release(Lease lease, const Held& held);
  template <class Release>
  void release_blocking(const Held& held, Release release);
  void note(Event event, std::int64_t operation, const std::string& reason = {});
  void note(Event event, const Held& held, const std::string& reason = {});

  Workplace& workplace_;
  std::mt19937_64 random_;
  Access access_;
  std::int64_t last_trust_ = 0;
  std::optional<LockRegistry> registry_{};  // while it runs
};

}  // namespace zklock::chaos

// The numbers behind the metrics.
#pragma once

#include "histogram.hpp"

#include <zklock/metrics/metrics.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zklock::metrics {

inline constexpr std::array<LockPhase, 6> outcomes{LockPhase::granted,   LockPhase::reentered, LockPhase::timed_out,
                                                   LockPhase::cancelled, LockPhase::refused,   LockPhase::failed};
inline constexpr std::array<LockKind, 5> kinds{LockKind::mutex, LockKind::read, LockKind::write, LockKind::permit,
                                               LockKind::latch};
inline constexpr std::array<std::string_view, 6> causes{"session_expired", "validity_passed", "node_deleted",
                                                        "max_hold_passed", "auth_failed",     "closed"};
inline constexpr std::array<std::string_view, 3> results{"ok", "definite", "ambiguous"};
inline constexpr std::array<std::string_view, 10> operations{
    "create", "remove", "exists", "get_data", "set_data", "get_children", "get_acl", "set_acl", "sync", "commit"};
inline constexpr std::string_view other_locks = "(other)";
inline constexpr std::array<ConnectionState, 7> states{
    ConnectionState::connecting, ConnectionState::connected, ConnectionState::suspended, ConnectionState::reconnected,
    ConnectionState::lost,       ConnectionState::read_only, ConnectionState::closed};

/// Of one lock label and kind.
struct KindNumbers {
  explicit KindNumbers(const Buckets& buckets) : wait{buckets.wait}, hold{buckets.hold} {}
  std::array<std::uint64_t, outcomes.size()> outcome{};
  Histogram wait;
  Histogram hold;
  std::size_t waiters = 0;
  std::size_t holders = 0;
};

/// Of one lock label.
struct LockNumbers {
  std::array<std::optional<KindNumbers>, kinds.size()> kind{};
  std::array<std::uint64_t, causes.size()> lost{};
  std::uint64_t revocations = 0;
  std::uint64_t slow_waits = 0;
  std::optional<Clock::time_point> oldest_waiter{};  // known in a copy only
  std::optional<Clock::time_point> oldest_holder{};
};

struct RequestNumbers {
  explicit RequestNumbers(const Buckets& buckets) : took{buckets.request} {}
  std::array<std::uint64_t, results.size()> result{};
  Histogram took;
};

/// What is known of one client.
struct ClientNumbers {
  ClientHealth health{};
  std::size_t watches = 0;
};

inline constexpr std::array<NodePhase, 5> node_phases{NodePhase::absent, NodePhase::present, NodePhase::suspect,
                                                      NodePhase::taken, NodePhase::failing};
inline constexpr std::array<Freshness::State, 3> freshness_states{Freshness::State::loading, Freshness::State::live,
                                                                  Freshness::State::stale};

/// How many objects are in each of these states, and how often one has come to it.
template <std::size_t size>
struct StateNumbers {
  std::array<std::size_t, size> now{};
  std::array<std::uint64_t, size> changes{};
};

/// All numbers that can be copied.
struct Numbers {
  explicit Numbers(const Buckets& buckets) : io_delay{buckets.io_delay} {}
  std::map<std::string, LockNumbers, std::less<>> locks{};
  std::uint64_t folded = 0;
  LeaseCounts leases{};
  std::map<std::string, RequestNumbers, std::less<>> requests{};
  std::size_t in_flight = 0;
  std::uint64_t retries = 0;
  std::uint64_t sessions = 0;
  std::uint64_t sessions_lost = 0;
  std::uint64_t suspensions = 0;
  Histogram io_delay;
  std::map<std::uint64_t, ClientNumbers> clients{};  // by client_number, without those that are closed
  StateNumbers<node_phases.size()> nodes{};
  StateNumbers<freshness_states.size()> followed{};
  std::size_t cleanups = 0;
  std::optional<Clock::time_point> oldest_cleanup{};  // known in a copy only
};

/// Threads: any; one mutex protects everything.
class Metrics::Books {
 public:
  explicit Books(const MetricsOptions& options);

  void on_lock(const LockEvent& event);
  void on_node(const NodeEvent& event);
  void on_follow(const FollowEvent& event);
  void on_request(const RequestEvent& event);
  void on_retry();
  void on_state(const StateEvent& event);
  void on_cleanup(const CleanupEvent& event);
  void on_health(const HealthEvent& event);

  [[nodiscard]] Numbers copy();
  [[nodiscard]] LeaseCounts leases() const;
  [[nodiscard]] std::size_t cleanups_pending() const;

 private:
  struct Attempt {
    LockNumbers* lock;
    KindNumbers* kind;
    Clock::time_point since;
    bool in_queue = false;
  };
  struct Grant {
    LockNumbers* lock;
    KindNumbers* kind;
    Clock::time_point since;
    bool is_suspect = false;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  using GrantKey = std::pair<std::uint64_t, std::int64_t>;  // the attempt, and the fencing token of one of its permits

  LockNumbers& lock_of(std::string_view path);
  KindNumbers& kind_of(LockNumbers& lock, LockKind kind) const;
  void begin_attempt(const LockEvent& event);
  void enter_queue(std::uint64_t attempt);
  void end_attempt(const LockEvent& event);
  void begin_grant(const LockEvent& event);
  void end_grant(const LockEvent& event);
  void set_suspect(const LockEvent& event, bool is_suspect);
  void find_oldest();

  const MetricsOptions& options_;
  mutable std::mutex mutex_;
  Numbers numbers_;
  std::unordered_map<std::string, LockNumbers*, Hash, std::equal_to<>> by_path_;  // what the labeller has said
  std::unordered_map<std::uint64_t, Attempt> attempts_;                           // under way
  std::map<GrantKey, Grant> grants_;
  std::unordered_map<std::uint64_t, Clock::time_point> cleanups_;
};

}  // namespace zklock::metrics

// Waiters that have waited for long: an event, and a warning with the holder.
#pragma once

#include "lock_target.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/lock_kind.hpp>
#include <zklock/timer.hpp>

#include <boost/intrusive/list.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace zklock::detail {

/// A wait of one attempt; unlinks itself when it is destroyed.
struct SlowWait : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  const LockTarget* lock = nullptr;  // these have a meaning while it is linked
  LockKind kind = LockKind::mutex;
  std::uint64_t attempt = 0;
  Clock::time_point began{};
  Clock::time_point due{};
  std::array<char, 10> sequence{};  // of its node: the last characters of the name
};

/// The waits of one client. Only one timer runs for all, and none while nothing waits for long; one list and one read
/// tell all that wait on one path.
///
/// Threads: the client's executor.
class SlowWaits : public std::enable_shared_from_this<SlowWaits> {
 public:
  /// The wait begins, or goes on with another node. Does nothing if the client's slow_wait is 0.
  static void add(const LockTarget& lock, SlowWait& wait, LockKind kind, std::uint64_t attempt, Clock::time_point began,
                  std::string_view node_path);

 private:
  struct Question;
  struct Answer;

  void start(const ClientHandle& client);
  void hear_end();
  void look();
  [[nodiscard]] static Awaitable<Answer> ask(Question question);
  [[nodiscard]] static Awaitable<void> report(std::shared_ptr<SlowWaits> self, Question question);
  void tell_waiters(const Question& question, const Answer& answer);

  boost::intrusive::list<SlowWait, boost::intrusive::constant_time_size<false>> waits_;
  std::optional<Timer> timer_;
  std::optional<StateStream> states_;
  asio::any_io_executor executor_;
  bool is_armed_ = false;  // the timer runs, or a report is under way
  bool is_closed_ = false;
};

}  // namespace zklock::detail

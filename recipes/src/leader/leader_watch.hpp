// Watches which candidate of an election is the first one.
#pragma once

#include "candidate.hpp"

#include <zklock/recipe_kit/bounded_list.hpp>
#include <zklock/recipe_kit/event_queue.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/leader/leader.hpp>

#include <memory>
#include <optional>

namespace zklock::detail {

/// Threads: the client's executor, unless marked.
class LeaderWatch : public std::enable_shared_from_this<LeaderWatch> {
 public:
  explicit LeaderWatch(std::shared_ptr<Candidate> candidate);
  /// Watches until the stream is destroyed. Any thread.
  [[nodiscard]] static LeaderStream begin(std::shared_ptr<Candidate> candidate);

 private:
  using Leaders = EventQueue<std::optional<Leader>, BoundedList<std::optional<Leader>, 1>>;  // the newest one

  [[nodiscard]] static Awaitable<error_code> run(std::shared_ptr<LeaderWatch> self);
  /// Any thread.
  void stop();

  std::shared_ptr<Candidate> candidate_;
  std::shared_ptr<Leaders> leaders_;
  asio::cancellation_signal stopping_;
};

}  // namespace zklock::detail

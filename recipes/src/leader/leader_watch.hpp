// Watches which candidate of an election is the first one.
#pragma once

#include "candidate.hpp"
#include "feed.hpp"

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/leader/leader.hpp>

#include <memory>
#include <optional>

namespace zklock::detail {

/// Threads: the functions marked so, any; the others on the client's executor.
class LeaderWatch : public std::enable_shared_from_this<LeaderWatch> {
 public:
  using Leaders = Feed<std::optional<Leader>>;

  explicit LeaderWatch(std::shared_ptr<Candidate> candidate);
  /// Any thread.
  [[nodiscard]] static std::shared_ptr<LeaderWatch> begin(std::shared_ptr<Candidate> candidate);

  // any thread
  [[nodiscard]] const Candidate& candidate() const noexcept { return *candidate_; }
  [[nodiscard]] const std::shared_ptr<Leaders>& leaders() const noexcept { return leaders_; }
  void stop();

 private:
  [[nodiscard]] static Awaitable<error_code> run(std::shared_ptr<LeaderWatch> self);

  std::shared_ptr<Candidate> candidate_;
  std::shared_ptr<Leaders> leaders_;
  asio::cancellation_signal stopping_;
};

}  // namespace zklock::detail

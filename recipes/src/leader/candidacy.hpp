// A candidate that stands for ever.
#pragma once

#include "candidate.hpp"

#include <zklock/recipe_kit/bounded_list.hpp>
#include <zklock/recipe_kit/event_queue.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/leader/candidacy.hpp>

#include <memory>
#include <mutex>

namespace zklock::detail {

/// Threads: the functions marked so, any; the others on the client's executor.
class Candidacy : public std::enable_shared_from_this<Candidacy> {
 public:
  explicit Candidacy(std::shared_ptr<Candidate> candidate);
  /// Begins to stand, until the stream is destroyed. Any thread.
  [[nodiscard]] static CandidacyStream begin(std::shared_ptr<Candidate> candidate);

  // any thread
  [[nodiscard]] const Candidate& candidate() const noexcept { return *candidate_; }
  /// The leadership that it has, or had last; null before the first one and while it waits for the next one.
  [[nodiscard]] std::shared_ptr<LeaseShare> share() const;
  /// Resigns, and stands no more.
  void stop();

 private:
  using Events = EventQueue<CandidacyEvent, BoundedList<CandidacyEvent, 16>>;

  [[nodiscard]] static Awaitable<error_code> run(std::shared_ptr<Candidacy> self);
  [[nodiscard]] Awaitable<bool> stay(std::shared_ptr<LeaseShare> share);
  void keep(std::shared_ptr<LeaseShare> share);

  std::shared_ptr<Candidate> candidate_;
  std::shared_ptr<Events> events_;
  asio::cancellation_signal stopping_;
  mutable std::mutex mutex_;
  std::shared_ptr<LeaseShare> share_;
};

}  // namespace zklock::detail

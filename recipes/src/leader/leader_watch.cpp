#include "leader_watch.hpp"

#include "leader_nodes.hpp"
#include "trouble.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/timer.hpp>

#include <utility>

namespace zklock::detail {

LeaderWatch::LeaderWatch(std::shared_ptr<Candidate> candidate)
    : candidate_{std::move(candidate)}, leaders_{std::make_shared<Leaders>(home_of(*candidate_))} {}

LeaderStream LeaderWatch::begin(std::shared_ptr<Candidate> candidate) {
  const auto serial = serial_executor(*candidate);
  auto self = std::make_shared<LeaderWatch>(std::move(candidate));
  self->leaders_->on_abandon = [weak = std::weak_ptr{self}] {
    if (const auto watching = weak.lock()) watching->stop();
  };
  asio::post(serial, [self, serial] {
    auto end = [self](error_code error) { self->leaders_->end(end_of_stream(error)); };
    spawn_background(serial, run(self), std::move(end), self->stopping_.slot());
  });
  return LeaderStream{self->leaders_};
}

void LeaderWatch::stop() {
  asio::post(serial_executor(*candidate_),  // behind the start
             [self = shared_from_this()] { self->stopping_.emit(asio::cancellation_type::terminal); });
}

namespace {

struct Seen {
  std::optional<Leader> leader{};
  Watch change{};  ///< of what is seen
};

/// Looks once, on a session that is connected. A read sets its watch together with what it returns, so no change is
/// lost in between; where something has changed between two reads, it looks again.
Awaitable<Result<Seen>> look(Session session, const Candidate& candidate) {
  const std::string& directory = candidate.core()->path();
  for (;;) {
    auto [unlisted, listed] = co_await session.async_get_children(directory, use_tuple);
    if (unlisted == Error::no_node) {
      auto [error, stat, watch] = co_await session.async_exists_and_watch(directory, use_tuple);
      if (error) co_return error;
      if (!stat) co_return Seen{std::nullopt, std::move(watch)};
      continue;
    }
    if (unlisted) co_return unlisted;
    auto names = candidate_names(candidate, listed.names);
    if (names.empty()) {
      auto [error, children, watch] = co_await session.async_get_children_and_watch(directory, use_tuple);
      if (error == Error::no_node) continue;
      if (error) co_return error;
      if (candidate_names(candidate, children.names).empty()) co_return Seen{std::nullopt, std::move(watch)};
      continue;
    }
    std::string path = join_path(directory, names.front());
    auto [error, node, watch] = co_await session.async_get_data_and_watch(path, use_tuple);
    if (error == Error::no_node) continue;
    if (error) co_return error;
    co_return Seen{to_leader(std::move(path), node), std::move(watch)};
  }
}

/// Looks until it has seen something. The first look on a session is behind a sync: its server may be behind the one
/// that was asked before.
Awaitable<Result<Seen>> look_over_sessions(const Candidate& candidate, std::int64_t& synced_session) {
  const std::string& directory = candidate.core()->path();
  for (RetryLoop loop{candidate.core()->client(), "leaders", directory, {}};;) {
    auto session = co_await loop.session();
    if (!session) co_return session.error();
    if (std::exchange(synced_session, session->id()) != session->id())
      session->async_sync(directory, asio::bind_executor(session->get_executor(), [](error_code) {}));
    auto seen = co_await look(*session, candidate);
    if (seen) co_return std::move(seen);
    synced_session = 0;
    if (!is_passing(seen.error())) co_return seen.error();
    if (const error_code final = co_await loop.next(seen.error())) co_return final;
  }
}

/// What tells one leader from another: their data may be written over.
std::int64_t token_of(const std::optional<Leader>& leader) { return leader ? leader->fencing_token : 0; }

}  // namespace

Awaitable<error_code> LeaderWatch::run(std::shared_ptr<LeaderWatch> self) {
  std::optional<std::optional<Leader>> told;
  for (std::int64_t synced_session = 0;;) {
    auto seen = co_await look_over_sessions(*self->candidate_, synced_session);
    if (!seen) {
      if (!is_passing(seen.error())) co_return seen.error();
      Timer pause{serial_executor(*self->candidate_), pause_after_trouble};
      if (const auto [cancelled] = co_await pause.async_wait(use_tuple); cancelled) co_return cancelled;
      continue;
    }
    if (!told || token_of(*told) != token_of(seen->leader)) self->leaders_->push(*(told = std::move(seen->leader)));
    const auto [ended, event] = co_await seen->change.async_wait(use_tuple);
    if (ended && !is_passing(ended)) co_return ended;
  }
}

}  // namespace zklock::detail

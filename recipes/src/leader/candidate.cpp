#include "candidate.hpp"

#include "priority.hpp"

#include <utility>

namespace zklock::detail {

const ClientHandle& home_of(const Candidate& candidate) { return candidate.core()->client(); }

NodeTraits Candidate::traits(Rank rank) const {
  if (!priority_) return NodeTraits{id_};
  return NodeTraits{id_, rank == Rank::own ? priority_prefix(*priority_) : std::string{}, &should_step_back};
}

/// Each leadership has an owner of its own: nobody enters it again, so its node's data are never written.
Awaitable<Result<Leadership>> lead(std::shared_ptr<Candidate> candidate, Limits limits, Rank rank) {
  auto acquiring = acquire(candidate->core(), Owner::make(), candidate->kind(), limits, candidate->traits(rank));
  auto lease = co_await std::move(acquiring);
  if (!lease) co_return lease.error();
  co_return Leadership{std::move(*lease), std::move(candidate)};
}

void start_lead(std::shared_ptr<Candidate> candidate, WaitPolicy wait, Handler<Leadership> handler) {
  const auto core = candidate->core();
  const Limits limits = limits_of(wait, core->client());
  auto body = lead(std::move(candidate), limits, Rank::own);
  spawn_operation(core->client().get_executor(), limits.deadline, std::move(handler), std::move(body), core,
                  limits.at_deadline);
}

namespace {

/// The delete goes out ahead of the create: others that wait are ahead in any case.
Awaitable<Result<Leadership>> step_back(std::shared_ptr<Candidate> candidate, std::shared_ptr<LeaseShare> share) {
  release_in_background(share);
  auto leading = lead(std::move(candidate), {}, Rank::lowest);
  co_return co_await std::move(leading);
}

}  // namespace

void start_step_back(std::shared_ptr<Candidate> candidate, std::shared_ptr<LeaseShare> share,
                     Handler<Leadership> handler) {
  const auto core = candidate->core();
  auto body = step_back(std::move(candidate), std::move(share));
  spawn_operation(core->client().get_executor(), {}, std::move(handler), std::move(body), core);
}

}  // namespace zklock::detail

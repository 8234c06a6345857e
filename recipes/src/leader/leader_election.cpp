#include "blocking_call.hpp"
#include "candidacy.hpp"
#include "candidate.hpp"
#include "fail_lock.hpp"
#include "leader_nodes.hpp"
#include "leader_watch.hpp"
#include "trouble.hpp"

#include <zklock/detail/existing.hpp>
#include <zklock/recipe_kit/blocking.hpp>
#include <zklock/recipes/leader/lead_while.hpp>
#include <zklock/recipes/leader/leader_election.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>
#include <zklock/recipes/locks/lock_path.hpp>
#include <zklock/timer.hpp>

namespace zklock {

using detail::Candidate;
using detail::existing;
using detail::fail_lock;

// ---- LeaderLatch, LeaderSelector

namespace {

std::shared_ptr<Candidate> candidate_of(const ClientHandle& client, const std::string& path, LockKind kind,
                                        std::string id, LockNaming naming, std::optional<int> priority) {
  validate_lock_path(path);
  if (priority && (*priority < 0 || *priority > max_latch_priority))
    throw boost::system::system_error{Error::bad_arguments, "the priority of a latch is 0 to 999"};
  return std::make_shared<Candidate>(detail::LockCore::of(client, path, naming), kind, std::move(id), priority);
}

const ClientHandle& client_to_wait_for(const std::shared_ptr<Candidate>& candidate) {
  refuse_after_fork(existing(candidate));
  return candidate->core()->client();
}

}  // namespace

LeaderLatch::LeaderLatch(const ClientHandle& client, const std::string& path, LatchOptions options)
    : LeaderLatch{client, path, client.client_id(), options} {}
LeaderLatch::LeaderLatch(const ClientHandle& client, const std::string& path, std::string id, LatchOptions options)
    : LeaderElection{
          candidate_of(client, path, LockKind::latch, std::move(id), LockNaming::curator, options.priority)} {}

LeaderSelector::LeaderSelector(const ClientHandle& client, const std::string& path, LockNaming naming)
    : LeaderSelector{client, path, client.client_id(), naming} {}
LeaderSelector::LeaderSelector(const ClientHandle& client, const std::string& path, std::string id, LockNaming naming)
    : LeaderElection{candidate_of(client, path, LockKind::mutex, std::move(id), naming, std::nullopt)} {}

// ---- LeaderElection

const std::string& LeaderElection::path() const { return existing(candidate_).core()->path(); }
const std::string& LeaderElection::id() const { return existing(candidate_).id(); }

std::optional<Leadership> LeaderElection::lead_within(detail::WaitPolicy wait) const {
  const ClientHandle& client = client_to_wait_for(candidate_);
  const Limits limits = limits_of(wait, client);
  auto outcome = detail::block_until<Leadership>(limits.deadline, limits.at_deadline, client,
                                                 [&](auto token) { initiate_lead(wait, std::move(token)); });
  if (outcome.error == Error::timed_out) return std::nullopt;
  if (outcome.error) fail_lock(outcome.error, explain(path(), outcome.error, client));
  return std::move(outcome.value);
}

CandidacyStream LeaderElection::stand() const {
  refuse_after_fork(existing(candidate_));
  return detail::Candidacy::begin(candidate_);
}

LeaderStream LeaderElection::leaders() const {
  refuse_after_fork(existing(candidate_));
  return detail::LeaderWatch::begin(candidate_);
}

std::vector<Leader> LeaderElection::participants() const {
  refuse_after_fork(existing(candidate_));
  return detail::call_blocking<std::vector<Leader>>(candidate_->core()->client(), "leader " + path(),
                                                    [this](auto token) { async_participants(std::move(token)); });
}

// ---- Leadership

bool Leadership::resign_within(Deadline deadline) {
  const ClientHandle& client = client_to_wait_for(candidate_);
  const auto resign = [&](auto token) {
    deadline ? async_resign(*deadline - Clock::now(), std::move(token)) : async_resign(std::move(token));
  };
  const auto outcome = detail::block_until<>(deadline, Error::timed_out, client, resign);
  if (outcome.error == Error::timed_out) return false;
  if (outcome.error) fail_lock(outcome.error, candidate_->core()->path());
  return true;
}

Leadership Leadership::step_back() {
  const ClientHandle& client = client_to_wait_for(candidate_);
  const auto stepping_back = [&](auto token) { async_step_back(std::move(token)); };
  auto outcome = detail::block_until<Leadership>({}, Error::timed_out, client, stepping_back);
  const std::string& path = candidate_->core()->path();
  if (outcome.error) fail_lock(outcome.error, explain(path, outcome.error, client));
  return std::move(*outcome.value);
}

// ---- lead_while

void detail::refuse_if_lost(const Leadership& leadership) {
  if (leadership.state() == LeaseState::lost) fail_lock(make_error_code(LockError::lock_lost), leadership.node_path());
}

asio::awaitable<Leadership> detail::lead_however_long(LeaderElection election) {
  for (;;) {
    auto leading = election.async_lead(asio::as_tuple(asio::deferred));
    auto [error, leadership] = co_await std::move(leading);
    if (!error) co_return std::move(leadership);
    if (!is_passing(error)) throw boost::system::system_error{error, "lead_while"};
    Timer pause{co_await asio::this_coro::executor, pause_after_trouble};
    co_await pause.async_wait(asio::use_awaitable);
  }
}

bool detail::is_cancellation(const std::exception_ptr& thrown) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& error) {
    return error.code() == asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

}  // namespace zklock

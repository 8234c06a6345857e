#include "contender.hpp"

#include "contention.hpp"
#include "place_in_line.hpp"

#include <zklock/client_id.hpp>
#include <zklock/detail/retry_loop.hpp>
#include <zklock/detail/steps.hpp>
#include <zklock/path.hpp>

namespace zklock {

namespace {

using Children = std::vector<std::string>;

constexpr int most_rounds = 16;  // of making a directory that is reaped again at once (docs/faults.md 9)

/// Creates our node and lists the line in one flight; makes the directory if it is missing, and finds the node again if
/// a reply was lost.
Awaitable<Result<Children>> join(Session session, const LockRequest& request, PlaceInLine& place) {
  for (int rounds_left = most_rounds;;) {
    place.request();
    auto [list_error, listed] = co_await session.async_get_children(request.directory, use_tuple);
    error_code error = place.error();
    if (!error && !list_error) co_return std::move(listed.names);
    if (!error) co_return co_await list_children(session, request.directory);
    if (error == Error::protocol_error) co_return error;  // the answer would be the same again
    if (outcome_of(error) == Outcome::ambiguous) {
      error = co_await place.recover();
      if (!error) co_return co_await list_children_fresh(session, request.directory);
      if (error == Error::no_node) continue;  // the create never happened
    } else if (error == Error::no_node && --rounds_left > 0) {
      error = co_await create_containers(session, request.directory);
      if (error == Error::no_node) error = {};  // an ancestor went again: another round
    } else if (is_retryable(error)) {
      error = co_await pause_before_retry(session);
    }
    if (error) co_return error;
  }
}

/// Sleeps until the predecessor may be gone. Its children are watched, not its data: that fires on deletion alone, and
/// leaves no watch where there is no node.
Awaitable<error_code> wait_for(Session session, std::string predecessor) {
  auto [error, children, watch] = co_await session.async_get_children_and_watch(predecessor, use_tuple);
  if (error == Error::no_node) co_return error_code{};
  if (is_retryable(error)) co_return co_await wait_connected(session);
  if (error) co_return error;
  const auto [ended, event] = co_await watch.async_wait(use_tuple);
  co_return ended;
}

/// One attempt, on one session: whatever happens to that, the attempt shares it.
Awaitable<Result<Lease>> attempt(Session session, const LockRequest& request, const std::string& client_id) {
  PlaceInLine place{session, request.directory, request.marker, format_lock_data({client_id, 1})};
  auto line = co_await join(session, request, place);
  for (;;) {
    // With the directory our node has gone, too: it was empty, and reaped.
    if (!line && line.error() == Error::no_node && !place.error()) co_return make_error_code(Error::lock_lost);
    if (!line) co_return line.error();
    const std::string own_name = place.name();
    const auto own_sequence = parse_sequence(own_name, request.marker);
    if (!own_sequence) co_return make_error_code(Error::protocol_error);
    if (*own_sequence < 0 || *own_sequence > last_safe_sequence) co_return make_error_code(Error::sequence_exhausted);

    const Contention contention = contend(*line, own_name, request.marker);
    if (contention.verdict == Contention::Verdict::missing) co_return make_error_code(Error::lock_lost);
    if (contention.verdict == Contention::Verdict::first) {
      auto holding = std::make_shared<detail::Holding>(session, place.keep(), client_id);
      co_return Lease{std::move(holding)};
    }
    if (request.try_once) co_return make_error_code(Error::timed_out);

    std::string predecessor = join_path(request.directory, contention.predecessor);
    const error_code error = co_await wait_for(session, std::move(predecessor));
    if (error) co_return error;
    // A wake-up is a hint: whether the session still lives is known only from an answer to a request sent after it
    // (docs/faults.md 45).
    line = co_await list_children_fresh(session, request.directory);
  }
}

/// A new attempt, at the end of the line, may succeed.
bool may_start_over(error_code error) {
  return is_retryable(error) || error == Error::session_expired || error == Error::lock_lost;
}

}  // namespace

Awaitable<Result<Lease>> acquire(ClientHandle client, LockRequest request) {
  detail::RetryLoop loop{client, "acquire", request.directory};
  for (;;) {
    const auto session = co_await loop.session();
    if (!session) co_return session.error();  // has had its time: not to be retried
    auto lease = co_await attempt(*session, request, client.client_id());
    if (lease || !may_start_over(lease.error())) co_return std::move(lease);
    if (const error_code error = co_await loop.next(lease.error())) co_return error;
  }
}

}  // namespace zklock

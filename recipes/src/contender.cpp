#include "contender.hpp"

#include "contention.hpp"
#include "place_in_line.hpp"

#include <zklock/client_id.hpp>
#include <zklock/detail/retry_loop.hpp>
#include <zklock/detail/steps.hpp>
#include <zklock/path.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace zklock {

using detail::Hold;
using detail::Holding;
using detail::LockCore;

namespace {

using Children = std::vector<std::string>;

/// What to stand in line for.
struct LockRequest {
  const std::string& directory;
  LockKind kind;
  bool try_once;  ///< leave again at once if somebody is ahead
};

/// Creates our node and lists the line in one flight; makes the directory if it is missing, and finds the node again if
/// a reply was lost.
Awaitable<Result<Children>> join(Session session, const std::string& directory, PlaceInLine& place) {
  for (int rounds_left = most_rounds;;) {
    place.request();
    auto [list_error, listed] = co_await session.async_get_children(directory, use_tuple);
    error_code error = place.error();
    if (!error && !list_error) co_return std::move(listed.names);
    if (!error) co_return co_await list_children(session, directory);
    if (error == Error::protocol_error) co_return error;  // the answer would be the same again
    if (outcome_of(error) == Outcome::ambiguous) {
      error = co_await place.recover();
      if (!error) co_return co_await list_children_fresh(session, directory);
      if (error == Error::no_node) continue;  // the create never happened
    } else if (error == Error::no_node && --rounds_left > 0) {
      error = co_await create_containers(session, directory);
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

/// Whoever stands in line, or stood there.
using Granted = std::pair<Session, CreateResult>;

/// One attempt, on one session: whatever happens to that, the attempt shares it.
Awaitable<Result<Granted>> attempt(Session session, LockRequest request, const std::string& client_id) {
  const std::string_view marker = marker_of(request.kind);
  PlaceInLine place{session, request.directory, marker, format_lock_data({client_id, 1})};
  auto line = co_await join(session, request.directory, place);
  for (;;) {
    // With the directory our node has gone, too: it was empty, and reaped.
    if (!line && line.error() == Error::no_node && !place.error()) co_return make_error_code(Error::lock_lost);
    if (!line) co_return line.error();
    const std::string own_name = place.name();
    const auto own_sequence = parse_sequence(own_name, marker);
    if (!own_sequence) co_return make_error_code(Error::protocol_error);
    if (*own_sequence < 0 || *own_sequence > last_safe_sequence) co_return make_error_code(Error::sequence_exhausted);

    const Contention contention = contend(*line, own_name, request.kind);
    if (contention.verdict == Contention::Verdict::missing) co_return make_error_code(Error::lock_lost);
    if (contention.verdict == Contention::Verdict::first) {
      if (const error_code dead = co_await prove_alive(session)) co_return dead;
      co_return Granted{session, place.keep()};
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

/// Stands in line until granted.
Awaitable<Result<Granted>> stand_in_line(ClientHandle client, LockRequest request) {
  detail::RetryLoop loop{client, "acquire", request.directory};
  for (;;) {
    const auto session = co_await loop.session();
    if (!session) co_return session.error();  // has had its time: not to be retried
    auto granted = co_await attempt(*session, request, client.client_id());
    if (granted || !may_start_over(granted.error())) co_return std::move(granted);
    if (const error_code error = co_await loop.next(granted.error())) co_return error;
  }
}

/// A reader beside the writer that its owner is. The writer's place is in front of all who wait, and so is the reader's,
/// which has the same number: nobody can be let in between when the writer goes (Curator's way).
Awaitable<Result<Granted>> read_beside(std::shared_ptr<Holding> writer, const std::string& directory,
                                       const std::string& client_id) {
  const Session session = writer->session();
  const std::string writers_name{node_name(writer->node().path)};
  const auto sequence = parse_sequence(writers_name, marker_of(LockKind::write));
  if (!sequence) co_return make_error_code(Error::protocol_error);
  PlaceInLine place{session, directory, marker_of(LockKind::read), format_lock_data({client_id, 1}),
                    format_sequence(*sequence)};
  const auto line = co_await join(session, directory, place);
  if (!line && line.error() == Error::no_node) co_return make_error_code(Error::lock_lost);
  if (!line) co_return is_final(session.state()) ? make_error_code(Error::lock_lost) : line.error();
  // Where an operator has deleted the writer its number proves nothing.
  if (std::ranges::find(*line, writers_name) == line->end()) co_return make_error_code(Error::lock_lost);
  co_return Granted{session, place.keep()};
}

/// The owner has it already; nothing: it has not.
std::optional<Result<Lease>> enter_again(const LockCore& core, Owner owner, LockKind kind) {
  const auto holding = core.held_by(owner, kind);
  if (!holding) return std::nullopt;
  if (holding->state() == LeaseState::lost) return make_error_code(Error::lock_lost);
  switch (holding->enter()) {
    case Holding::Entered::yes: return Lease{std::make_shared<Hold>(holding)};
    case Holding::Entered::too_often: return make_error_code(Error::too_many_reentries);
    case Holding::Entered::ended: break;
  }
  return std::nullopt;
}

}  // namespace

bool may_start_over(error_code error) {
  return is_retryable(error) || error == Error::session_expired || error == Error::lock_lost;
}

Awaitable<Result<Lease>> acquire(std::shared_ptr<LockCore> core, Owner owner, LockKind kind, bool try_once) {
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  for (;;) {
    if (auto again = enter_again(*core, owner, kind)) co_return std::move(*again);
    const auto turn_of_another = core->turn_of(owner, kind);
    if (!turn_of_another) break;
    if (try_once) co_return make_error_code(Error::timed_out);
    co_await turn_of_another->async_wait(use_tuple);
    if (cancellation.cancelled() != asio::cancellation_type::none)
      co_return make_error_code(asio::error::operation_aborted);
  }
  const LockCore::Turn turn{*core, owner, kind};
  if (kind == LockKind::write && core->held_by(owner, LockKind::read)) co_return make_error_code(Error::would_deadlock);
  const auto writer = kind == LockKind::read ? core->held_by(owner, LockKind::write) : nullptr;
  auto granting = writer ? read_beside(writer, core->path(), core->client().client_id())
                         : stand_in_line(core->client(), LockRequest{core->path(), kind, try_once});
  auto granted = co_await std::move(granting);
  if (!granted) co_return granted.error();
  auto holding = core->hold(owner, kind, std::move(granted->first), std::move(granted->second));
  co_return Lease{std::make_shared<Hold>(std::move(holding))};
}

}  // namespace zklock

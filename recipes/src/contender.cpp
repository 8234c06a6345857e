#include "contender.hpp"

#include "contention.hpp"
#include "join_line.hpp"

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
using detail::LockAttempt;
using detail::LockCore;

namespace {

enum class WokenUp { for_certain, by_a_hint };

/// Sleeps until the predecessor is gone, or may be. Its children are watched, not its data: that fires on deletion
/// alone, and leaves no watch where there is no node.
Awaitable<Result<WokenUp>> wait_for(Session session, std::string predecessor) {
  auto [error, children, watch] = co_await session.async_get_children_and_watch(predecessor, use_tuple);
  if (error == Error::no_node) co_return WokenUp::for_certain;
  if (is_retryable(error)) {
    error = co_await wait_connected(session);
    if (error) co_return error;
    co_return WokenUp::by_a_hint;
  }
  if (error) co_return error;
  const auto [ended, event] = co_await watch.async_wait(use_tuple);
  if (ended) co_return ended;
  co_return event.type == WatchEventType::node_deleted ? WokenUp::for_certain : WokenUp::by_a_hint;
}

/// Whoever stands in line, or stood there.
struct Granted {
  Session session{};
  CreateResult node{};
  std::shared_ptr<Sibling> sibling{};
  bool is_seen = true;  ///< the servers' word is there that we are first
};

bool is_certainly_alive(const Session& session) {
  return session.state() == SessionState::connected && Clock::now() < session.valid_until();
}

error_code check_sequence(const PlaceInLine& place, std::string_view marker) {
  const auto sequence = parse_sequence(place.name(), marker);
  if (!sequence) return make_error_code(Error::protocol_error);
  const bool in_order = *sequence >= 0 && *sequence <= last_safe_sequence;
  return in_order ? error_code{} : make_error_code(Error::sequence_exhausted);
}

/// Beside the one that holds the lock there may be others who keep us out when it goes: to a writer, readers.
bool may_leave_others(LockKind holder, LockKind behind) {
  return holder == LockKind::read || (holder == LockKind::write && behind == LockKind::write);
}

/// Sleeps until the lock is ours, without another look at the line, or may be. That one of ours leaves wakes us
/// without a word from the server: its delete is on the wire ahead of whatever we ask for, everybody else waits behind
/// both nodes, and both go with the same session.
Awaitable<Result<WokenUp>> wait_turn(Session session, const LockCore& core, const Contention& contention, LockKind kind,
                                     std::shared_ptr<Sibling> ahead, std::weak_ptr<Sibling> own) {
  bool decides = contention.is_last_obstacle;
  if (ahead) {
    if (const error_code ended = co_await Sibling::wait_gone(ahead, session, std::move(own))) co_return ended;
    decides = decides || (ahead->was_granted() && !may_leave_others(ahead->kind(), kind));
  } else {
    const auto gone = co_await wait_for(session, join_path(core.path(), contention.predecessor));
    if (!gone) co_return gone.error();
    decides = decides && *gone == WokenUp::for_certain;
  }
  const bool ours = decides && is_certainly_alive(session);
  co_return ours ? WokenUp::for_certain : WokenUp::by_a_hint;
}

/// The one ahead is of ours, and was given up while our node was asked for: one try waits for its delete.
bool is_leaving(const LockCore& core, const Session& session, LockKind kind, const PlaceInLine& place,
                std::string_view predecessor) {
  const auto own = parse_sequence(place.name(), core.marker(kind));
  const auto ahead = own ? core.siblings()->right_ahead(session, kind, *own, place.asked_for()) : nullptr;
  return ahead && ahead->is_gone() && node_name(ahead->path()) == predecessor;
}

/// One attempt, on one session: whatever happens to that, the attempt shares it.
Awaitable<Result<Granted>> attempt(Session session, LockRequest request, std::string data) {
  const LockCore& core = request.core;
  PlaceInLine place{session, core.path(), core.marker(request.kind), std::move(data)};
  place.stand_among(core.siblings(), request.kind);
  auto joined = co_await join_behind_own(session, request, place);
  // With the directory our node has gone, too: it was empty, and reaped.
  if (!joined && joined.error() == Error::no_node && !place.error()) co_return make_error_code(Error::lock_lost);
  if (!joined) co_return joined.error();
  if (const error_code error = check_sequence(place, core.marker(request.kind))) co_return error;
  request.told.enqueued(session, place.node().path);
  Granted granted{session, place.node(), place.sibling()};
  for (auto [ahead, line] = std::move(*joined);;) {
    Contention contention;
    if (!ahead) {
      contention = contend(line, place.name(), request.kind, core.naming());
      if (!contention.of_other_kind.empty()) warn_of_other_kind(core, request.kind, session, contention.of_other_kind);
      if (contention.verdict == Contention::Verdict::missing) co_return make_error_code(Error::lock_lost);
      if (contention.verdict == Contention::Verdict::first) break;
      if (request.try_once && !is_leaving(core, session, request.kind, place, contention.predecessor))
        co_return make_error_code(Error::timed_out);
      ahead = core.siblings()->find(session, request.kind, contention.predecessors_number, contention.predecessor);
    }
    const bool left_meanwhile = ahead && ahead->is_gone();  // while our node was made
    if (granted.sibling) granted.sibling->forget_seen();
    request.told.waits(session, place.node().path, ahead ? ahead->path() : contention.predecessor);
    const auto woken = co_await wait_turn(session, core, contention, request.kind, ahead, granted.sibling);
    if (!woken) co_return woken.error();
    granted.is_seen = *woken == WokenUp::by_a_hint;
    if (*woken == WokenUp::for_certain && left_meanwhile) ahead->hand_on_late(granted.sibling);
    if (*woken == WokenUp::for_certain) break;
    ahead.reset();
    // A wake-up is a hint: the session may be over (docs/faults.md 45), which prove_alive() finds out at the end.
    auto listed = co_await list_children(session, core.path());
    if (!listed && listed.error() == Error::no_node) co_return make_error_code(Error::lock_lost);
    if (!listed) co_return listed.error();
    line = std::move(*listed);
  }
  if (const error_code dead = co_await prove_alive(session)) co_return dead;
  place.keep();
  co_return std::move(granted);
}

/// Stands in line until granted.
Awaitable<Result<Granted>> stand_in_line(ClientHandle client, LockRequest request, Deadline deadline) {
  const std::string data = format_lock_data({client.client_id(), 1});
  detail::RetryLoop loop{client, "acquire", request.core.path(), deadline};
  for (;;) {
    const auto session = co_await loop.session();
    if (!session) co_return session.error();  // has had its time: not to be retried
    auto granted = co_await attempt(*session, request, data);
    if (granted || !may_start_over(granted.error())) co_return std::move(granted);
    if (const error_code error = co_await loop.next(granted.error())) co_return error;
  }
}

/// A reader beside the writer that its owner is. The writer's place is in front of all who wait, and so is the
/// reader's, which has the same number: nobody can be let in between when the writer goes (Curator's way).
///
/// Whoever has been told that it has lost the write lock does not get the read lock by it, though the node may be
/// there.
Awaitable<Result<Granted>> read_beside(std::shared_ptr<Holding> writer, const LockCore& core) {
  if (writer->is_lost()) co_return make_error_code(Error::lock_lost);
  const std::string& directory = core.path();
  const Session session = writer->session();
  const std::string writers_name{node_name(writer->node().path)};
  const auto sequence = parse_sequence(writers_name, core.marker(LockKind::write));
  if (!sequence) co_return make_error_code(Error::protocol_error);
  PlaceInLine place{session, directory, core.marker(LockKind::read), format_lock_data({core.client().client_id(), 1}),
                    format_sequence(*sequence)};
  const auto line = co_await join(session, core, place);
  if (!line && line.error() == Error::no_node) co_return make_error_code(Error::lock_lost);
  if (!line) co_return is_final(session.state()) ? make_error_code(Error::lock_lost) : line.error();
  // Where an operator has deleted the writer its number proves nothing.
  if (std::ranges::find(*line, writers_name) == line->end()) co_return make_error_code(Error::lock_lost);
  const error_code dead = co_await prove_alive(session);
  if (writer->is_lost()) co_return make_error_code(Error::lock_lost);
  if (dead) co_return dead;
  Granted granted{session, place.keep()};
  co_return std::move(granted);
}

/// The owner has it already, maybe by the attempt that `told`, if there is one, has waited for; nothing: it has not.
std::optional<Result<Lease>> enter_again(const LockCore& core, Owner owner, LockKind kind, LockAttempt* told) {
  const auto holding = core.held_by(owner, kind);
  if (!holding) return std::nullopt;
  const auto fail = [told](Error error) {
    return told ? told->failed(make_error_code(error)) : make_error_code(error);
  };
  if (holding->state() == LeaseState::lost) return fail(Error::lock_lost);
  switch (holding->enter(told)) {
    case Holding::Entered::yes: return Lease{std::make_shared<Hold>(holding)};
    case Holding::Entered::too_often: return fail(Error::too_many_reentries);
    case Holding::Entered::ended: break;
  }
  return std::nullopt;
}

}  // namespace

bool may_start_over(error_code error) {
  return is_retryable(error) || error == Error::session_expired || error == Error::lock_lost;
}

Awaitable<Result<Lease>> acquire(std::shared_ptr<LockCore> core, Owner owner, LockKind kind, Limits limits) {
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  std::optional<LockAttempt> told;
  detail::PathShare share;
  for (;;) {
    if (auto again = enter_again(*core, owner, kind, told ? &*told : nullptr)) co_return std::move(*again);
    if (!told) {
      told.emplace(*core, kind, limits, cancellation);
      auto used = core->use_as(kind);
      if (!used) co_return told->failed(used.error());
      share = std::move(*used);
    }
    const auto* turn_of_another = core->turn_of(owner, kind);
    if (!turn_of_another) break;
    if (limits.try_once && !turn_of_another->is_given_up()) co_return told->failed(make_error_code(Error::timed_out));
    const auto end_of_turn = turn_of_another->end;
    co_await end_of_turn->async_wait(use_tuple);
    if (cancellation.cancelled() != asio::cancellation_type::none)
      co_return told->failed(make_error_code(asio::error::operation_aborted));
  }
  const LockCore::Turn turn{*core, owner, kind, cancellation};
  if (const auto reader = kind == LockKind::write ? core->held_by(owner, LockKind::read) : nullptr)
    co_return told->failed(make_error_code(reader->is_lost() ? Error::lock_lost : Error::would_deadlock));
  const auto writer = kind == LockKind::read ? core->held_by(owner, LockKind::write) : nullptr;
  auto granting =
      writer ? read_beside(writer, *core)
             : stand_in_line(core->client(), LockRequest{*core, kind, *told, limits.try_once}, limits.deadline);
  auto granted = co_await std::move(granting);
  if (!granted) co_return told->failed(granted.error());
  auto holding = core->hold(owner, kind, std::move(granted->session), std::move(granted->node), *told);
  holding->keep(std::move(share));
  holding->stand_as(std::move(granted->sibling));
  if (writer) holding->stand_beside(*writer);
  told->granted(*holding);
  if (!granted->is_seen) holding->verify();
  co_return Lease{std::make_shared<Hold>(std::move(holding))};
}

}  // namespace zklock

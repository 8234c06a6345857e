#include "join_line.hpp"

#include "contender.hpp"
#include "contention.hpp"

#include <zklock/detail/steps.hpp>

namespace zklock {

using detail::LockCore;

namespace {

/// Kazoo does not make a directory again that has gone.
CreateMode mode_of_directories(LockNaming naming) {
  return naming == LockNaming::kazoo ? CreateMode::persistent : CreateMode::container;
}

/// After a create that failed: finds our node if it was made after all, or does what makes another try worth while.
Awaitable<error_code> recover(Session session, const LockCore& core, PlaceInLine& place, int& rounds_left) {
  error_code error = place.error();
  if (error == Error::protocol_error) co_return error;  // the answer would be the same again
  if (outcome_of(error) == Outcome::ambiguous) {
    error = co_await place.recover();
    if (error == Error::no_node) error = {};  // the create never happened
  } else if (error == Error::no_node && --rounds_left > 0) {
    const NodeOptions directories{mode_of_directories(core.naming())};
    error = co_await create_path(session, core.path(), directories);
    if (error == Error::no_node) error = {};  // an ancestor went again: another round
  } else if (is_retryable(error)) {
    error = co_await pause_before_retry(session);
  }
  co_return error;
}

}  // namespace

Awaitable<Result<Children>> join(Session session, const LockCore& core, PlaceInLine& place) {
  const std::string& directory = core.path();
  for (int rounds_left = most_rounds;;) {
    place.request();
    auto [list_error, listed] = co_await session.async_get_children(directory, use_tuple);
    if (place.is_in_line() && !list_error) co_return std::move(listed.names);
    if (!place.is_in_line())
      if (const error_code error = co_await recover(session, core, place, rounds_left)) co_return error;
    if (place.is_in_line()) co_return co_await list_children(session, directory);
  }
}

namespace {

/// The one of ours for which our new node has to wait, and nobody else but those whom that one waits for. Null: look at
/// the line.
///
/// A reader has no need to wait for a reader, but for the writer for whom that one waits.
std::shared_ptr<Sibling> only_one_ahead(const LockCore& core, const Session& session, LockKind kind,
                                        const PlaceInLine& place) {
  const Siblings& siblings = *core.siblings();
  const auto own = parse_sequence(place.name(), core.marker(kind));
  auto ahead = own ? siblings.right_ahead(session, kind, *own, place.asked_for()) : nullptr;
  if (ahead && kind == LockKind::read && ahead->kind() == LockKind::read) ahead = ahead->waits_for();
  return ahead;
}

}  // namespace

Awaitable<Result<Joined>> join_behind_own(Session session, LockRequest request, PlaceInLine& place) {
  const std::string& directory = request.core.path();
  const Siblings& siblings = *request.core.siblings();
  Joined joined;
  if (request.try_once || !siblings.leads(session, request.kind)) {
    auto line = co_await join(session, request.core, place);
    if (!line) co_return line.error();
    joined.line = std::move(*line);
    co_return std::move(joined);
  }
  for (int rounds_left = most_rounds; !place.is_in_line();) {
    place.request();
    if (!co_await place.answered()) {
      joined.ahead = only_one_ahead(request.core, session, request.kind, place);
      if (joined.ahead) co_return std::move(joined);
    } else if (const error_code error = co_await recover(session, request.core, place, rounds_left)) {
      co_return error;
    }
  }
  auto line = co_await list_children(session, directory);
  if (!line) co_return line.error();
  joined.line = std::move(*line);
  co_return std::move(joined);
}

}  // namespace zklock

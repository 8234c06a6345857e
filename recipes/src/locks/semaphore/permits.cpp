#include "permits.hpp"

#include "admission.hpp"
#include "contender.hpp"
#include "contention.hpp"
#include "place_in_line.hpp"
#include "room_watch.hpp"

#include <zklock/client_id.hpp>
#include <zklock/detail/retry_loop.hpp>
#include <zklock/detail/steps.hpp>

#include <algorithm>
#include <list>
#include <utility>

namespace zklock {

using detail::Hold;
using detail::LockAttempt;
using detail::SemaphoreCore;

namespace {

using Children = std::vector<std::string>;
/// Our nodes among the leases.
using Places = std::list<PlaceInLine>;

/// A request that is answered in one flight, and in one list.
constexpr std::int32_t most_at_once = 1'000;

struct PermitRequest {
  const SemaphoreCore& semaphore;
  std::int32_t quantity;
  bool try_once;  ///< give up at once if too few are free
  const LockAttempt& told;
};

bool are_all_there(const Places& places) {
  return std::ranges::all_of(places, [](const PlaceInLine& place) { return place.is_in_line(); });
}

/// After the answers: finds those nodes whose reply was lost. Gives the error of those that certainly do not exist, or
/// nothing if it is only to be asked for them again.
Awaitable<error_code> find_lost(Places& places) {
  error_code refused;
  for (PlaceInLine& place : places) {
    if (place.is_in_line()) continue;
    error_code error = place.error();
    if (error == Error::protocol_error) co_return error;  // the answer would be the same again
    if (outcome_of(error) == Outcome::not_applied) {
      refused = error;
      continue;
    }
    error = co_await place.recover();
    if (error && error != Error::no_node) co_return error;  // no_node: it was never made
  }
  co_return refused;
}

/// Creates our nodes and lists the leases in one flight; makes the directory if it is missing, and finds the nodes
/// again whose replies were lost.
Awaitable<Result<Children>> join(Session session, const std::string& directory, Places& places) {
  for (int rounds_left = most_rounds;;) {
    for (PlaceInLine& place : places)
      if (!place.is_in_line()) place.request();
    auto [list_error, listed] = co_await session.async_get_children(directory, use_tuple);
    if (!list_error && are_all_there(places)) co_return std::move(listed.names);
    error_code error = co_await find_lost(places);
    if (!error && are_all_there(places)) co_return co_await list_children_fresh(session, directory);
    if (error == Error::no_node && --rounds_left > 0) {
      error = co_await create_containers(session, directory);
      if (error == Error::no_node) error = {};  // an ancestor went again: another round
    } else if (is_retryable(error)) {
      error = co_await pause_before_retry(session);
    }
    if (error) co_return error;
  }
}

using Granted = std::vector<CreateResult>;

/// One attempt, on the session of the mutex: whatever happens to that, the attempt shares it. The mutex is given back
/// once our nodes are permits, or certainly gone.
Awaitable<Result<Granted>> attempt(Session session, PermitRequest request, std::shared_ptr<const Lease> mutex) {
  RoomWatch room{session, request.semaphore, mutex->node_path()};
  const SemaphoreCore& semaphore = request.semaphore;
  const std::string& directory = semaphore.leases()->path();
  const std::string data = format_lock_data({semaphore.client().client_id(), 1});
  Places places;
  for (std::int32_t i = 0; i < request.quantity; ++i) {
    places.emplace_back(session, directory, marker_of(LockKind::permit), data);
    places.back().keep_meanwhile(mutex);
  }
  auto children = co_await join(session, directory, places);
  for (;;) {
    // With the directory our nodes have gone, too.
    if (!children && children.error() == Error::no_node && are_all_there(places))
      co_return make_error_code(Error::lock_lost);
    if (!children) co_return children.error();
    const auto permits = co_await read_count(session, semaphore.count());
    if (!permits) co_return permits.error();
    Children own;
    for (const PlaceInLine& place : places) own.push_back(place.name());

    const Admission admission = admit(*children, own, *permits);
    if (admission == Admission::missing) co_return make_error_code(Error::lock_lost);
    if (admission == Admission::granted) break;
    if (request.try_once) co_return make_error_code(Error::timed_out);

    request.told.waits(session, places.front().node().path, {});
    if (const error_code error = co_await room.wait(own, *permits)) co_return error;
    // A wake-up is a hint: whether the session still lives is known only from an answer to a request sent after it
    // (docs/faults.md 45), and so is whether we still have the mutex.
    if (!room.is_mutex_lost()) children = co_await list_children_fresh(session, directory);
    if (room.is_mutex_lost()) co_return make_error_code(Error::lock_lost);
  }
  if (const error_code dead = co_await prove_alive(session)) co_return dead;
  Granted granted;
  for (PlaceInLine& place : places) granted.push_back(place.keep());
  co_return std::move(granted);
}

bool is_valid(std::int32_t quantity, const PermitCount& count) {
  return quantity >= 1 && quantity <= most_at_once && (count.is_shared() || quantity <= count.number);
}

std::vector<Lease> to_leases(const SemaphoreCore& semaphore, const Session& session, Granted granted,
                             LockAttempt& told) {
  std::vector<Lease> leases;
  for (CreateResult& node : granted) {
    auto holding = semaphore.leases()->hold(Owner::make(), LockKind::permit, session, std::move(node), told);
    told.granted(*holding);
    leases.emplace_back(std::make_shared<Hold>(std::move(holding)));
  }
  return leases;
}

}  // namespace

Awaitable<Result<std::vector<Lease>>> acquire_permits(std::shared_ptr<SemaphoreCore> semaphore, std::int32_t quantity,
                                                      Limits limits) {
  if (!is_valid(quantity, semaphore->count())) co_return make_error_code(Error::invalid_permits);
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  LockAttempt told{*semaphore->leases(), LockKind::permit, limits, cancellation};
  detail::RetryLoop loop{semaphore->client(), "acquire", semaphore->locks()->path(), limits.deadline};
  for (;;) {
    const auto connected = co_await loop.session();
    if (!connected) co_return told.failed(connected.error());
    auto first_in_line = co_await acquire(semaphore->locks(), Owner::make(), LockKind::mutex, limits);
    if (!first_in_line) co_return told.failed(first_in_line.error());  // has been tried again as often as may be
    auto hold = std::move(*first_in_line).into_hold();
    const Session session = hold->holding().session();
    auto mutex = std::make_shared<const Lease>(std::move(hold));
    auto attempting = attempt(session, PermitRequest{*semaphore, quantity, limits.try_once, told}, std::move(mutex));
    auto granted = co_await std::move(attempting);
    if (granted) co_return to_leases(*semaphore, session, std::move(*granted), told);
    if (!may_start_over(granted.error())) co_return told.failed(granted.error());
    if (const error_code error = co_await loop.next(granted.error())) co_return told.failed(error);
  }
}

}  // namespace zklock

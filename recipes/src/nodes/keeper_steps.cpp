// What a Keeper does on one session.
#include "keeper.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/random.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/retry_policy.hpp>

#include <limits>
#include <utility>

namespace zklock::detail {

using namespace std::chrono_literals;

namespace {

/// A node that other clients delete again and again is created again at once so many times, then more and more slowly.
constexpr int max_quick_steps = 5;
constexpr Clock::duration long_step = 1s;

/// No later try would succeed.
bool is_final_refusal(error_code error) {
  return error == Error::name_taken || error == Error::unimplemented || error == Error::closed;
}

}  // namespace

struct Keeper::Alarm {
  bool rung = false;
  bool deleted = false;
};

LookBy Keeper::look_by() const {
  return is_ephemeral(options_.node.mode) && !others_may_write() ? LookBy::children : LookBy::data;
}

/// A late create, or the client whose node was taken over and who does not know it yet: versions do not tell the nodes
/// apart, since each begins at 0.
bool Keeper::others_may_write() const { return Clock::now() < late_until_ || may_take_over(); }

/// Of a node that no session owns nobody knows whose it is.
bool Keeper::may_take_over() const {
  return is_ephemeral(options_.node.mode) && options_.conflict == NodeConflict::take_over;
}

NodeOptions Keeper::options_now() const {
  NodeOptions now = options_.node;
  now.mode = unnumbered(now.mode);
  return now;
}

/// Another node may be at the path. One that no session owns cannot be told from the client's own, and is kept: what
/// another client has written there stays until the next change.
void Keeper::forget_written() {
  if (is_ephemeral(options_.node.mode)) written_ = 0;
}

/// Returns why nothing more can be done; success when the session is over, or the object is being closed.
Awaitable<error_code> Keeper::keep_on(Session session) {
  sessions_.add(session.id());
  took_over_ = is_there_ = made_parents_ = write_is_ambiguous_ = false;
  forget_written();
  doubt_ = {};
  follow_link(session);
  for (int failures = 0, quick = 0; !is_over(session);) {
    const Clock::time_point began = Clock::now();
    const error_code error = co_await take_step(session);
    if (is_over(session) || is_session_lost(error)) break;
    if (is_retryable(error)) {
      co_await pause_before_retry(session);
      continue;
    }
    if (is_final_refusal(error)) co_return error;
    quick = Clock::now() - began < long_step ? quick + 1 : 0;
    failures = error ? failures + 1 : 0;
    if (error) {
      refused_ = tried_;
      refusal_ = error;
    }
    const bool is_undone = quick > max_quick_steps && state().phase == NodePhase::absent;
    if (error || is_undone) {
      NodeState failing;
      failing.phase = NodePhase::failing;
      failing.error = error ? error : make_error_code(Error::no_node);
      publish(failing);
    }
    if (error || quick > max_quick_steps) co_await back_off(session, error ? failures - 1 : quick - max_quick_steps);
  }
  co_return error_code{};
}

/// Creates the node, or finds it, and waits until something has changed.
Awaitable<error_code> Keeper::take_step(Session session) {
  was_sent_ = true;
  if (!name_.is_known()) {
    const error_code error = co_await name_node(session);
    if (error || !name_.is_known()) co_return error;
  }
  if (const error_code error = co_await take_claim()) co_return error;
  if (!claim_) co_return error_code{};
  const std::string path = name_.node_path();
  NodeFlight flight;
  if (std::exchange(is_there_, false)) {
    flight.look = co_await look_at(session, path, look_by());
    if (flight.look.stat && flight.look.stat->czxid != czxid_) forget_written();
  } else {
    const Wish wanted = wish_to_try();
    flight = co_await create_and_look(session, path, wanted.data, options_now(), look_by());
    note_doubt(flight.written, session, wanted);
    const bool is_ours = flight.look.stat && flight.look.stat->ephemeral_owner == session.id();
    if (flight.written == Error::node_exists && is_ours) doubt_.found();
    if (flight.written == Error::no_node) co_return co_await create_parents(session, flight.written);
    if (flight.written && flight.written != Error::node_exists) co_return flight.written;
    if (flight.written)
      forget_written();
    else
      written_ = wanted.number;
  }
  if (flight.look.error) co_return flight.look.error;
  co_return co_await act_on(session, std::move(flight.look));
}

void Keeper::note_doubt(error_code outcome, const Session& session, const Wish& wanted) {
  if (!outcome)
    doubt_.made();
  else if (outcome_of(outcome) == Outcome::ambiguous)
    doubt_.lost(wanted.data, end_of_lateness(session));
}

/// Creates a sequential node for the first time. The next step looks at it.
Awaitable<error_code> Keeper::name_node(Session session) {
  const Wish wanted = wish_to_try();
  const int creates = name_.creates();
  const error_code error = co_await name_.create(session, wanted.data, sessions_);
  if (name_.creates() > creates) note_doubt(error, session, wanted);
  if (error == Error::no_node) co_return co_await create_parents(session, error);
  if (error || !name_.is_known()) co_return error;
  doubt_.found();
  is_there_ = true;
  czxid_ = name_.created();
  written_ = czxid_ != 0 ? wanted.number : 0;  // if it was found, and not created, it may have earlier data
  const std::lock_guard lock{mutex_};
  node_path_ = name_.node_path();
  co_return error_code{};
}

Awaitable<error_code> Keeper::create_parents(Session session, error_code error) {
  const bool whole_path = options_.parents != CreateOptions::Parents::none;
  if (!whole_path && (made_parents_ || client().ref().name_space().empty())) co_return error;
  made_parents_ = true;
  const bool persistent = options_.parents == CreateOptions::Parents::persistent;
  NodeOptions parents{persistent ? CreateMode::persistent : CreateMode::container};
  parents.acl = options_.node.acl;
  std::string down_to = whole_path ? std::string{parent_path(path())} : "/";
  co_return co_await create_path(session, std::move(down_to), std::move(parents));
}

Awaitable<error_code> Keeper::act_on(Session session, NodeLook look) {
  for (;;) {
    PathSeen seen;
    seen.exists = look.stat.has_value();
    if (seen.exists) seen.owner = owner_of(look.stat->ephemeral_owner, session.id(), sessions_);
    seen.took_over = took_over_;
    switch (next_step(is_ephemeral(options_.node.mode), options_.conflict, seen)) {
      case KeepStep::create:  // it is gone again
        doubt_.deleted();
        co_return error_code{};
      case KeepStep::keep: co_return co_await stay(session, std::move(look));
      case KeepStep::wait: co_return co_await wait_for_change(session, std::move(look));
      case KeepStep::give_up: co_return make_error_code(Error::name_taken);
      case KeepStep::replace: break;
    }
    const Wish wanted = wish_to_try();
    NodeFlight flight = co_await replace_and_look(session, name_.node_path(), look.stat->version, wanted.data,
                                                  options_now(), look_by());
    const error_code error = flight.written;
    const bool may_be_done = !error || outcome_of(error) == Outcome::ambiguous;
    if (may_be_done && seen.owner != NodeOwner::earlier_session) took_over_ = true;
    if (error == Error::bad_version || error == Error::no_node || error == Error::node_exists) co_return error_code{};
    if (error) co_return error;
    doubt_.made();
    if (!has_ttl(options_.node.mode)) written_ = wanted.number;  // else the create behind the delete may have failed
    if (flight.look.error) co_return flight.look.error;
    look = std::move(flight.look);
  }
}

/// Another client has the path: waits until its node is deleted, or has changed.
Awaitable<error_code> Keeper::wait_for_change(Session session, NodeLook look) {
  NodeState taken;
  taken.phase = NodePhase::taken;
  taken.owner = look.stat->ephemeral_owner;
  publish(taken);
  const auto alarm = arm(look.watch);
  while (!is_over(session) && !alarm->rung) co_await changed();
  co_return error_code{};
}

/// The node is the client's own: waits until it is deleted, and writes the data when they have changed.
Awaitable<error_code> Keeper::stay(Session session, NodeLook look) {
  // A write whose reply was lost was for an earlier version: it has been carried out, or never will be.
  if (look.stat->czxid == czxid_ && look.stat->version > version_) write_is_ambiguous_ = false;
  czxid_ = look.stat->czxid;
  version_ = look.stat->version;
  if (look.data) {
    const Wish wanted = wish();
    if (*look.data == wanted.data)
      written_ = wanted.number;
    else if (others_may_write())
      written_ = 0;
  }
  const auto alarm = arm(look.watch);
  while (!is_over(session)) {
    if (alarm->rung) {
      is_there_ = !alarm->deleted;
      if (alarm->deleted) {
        doubt_.deleted();
        publish({});
      }
      co_return error_code{};
    }
    if (wish().number != written_) {
      const error_code error = co_await write(session);
      is_there_ = error && error != Error::no_node;
      if (error == Error::bad_version || error == Error::no_node) co_return error_code{};
      if (error) co_return error;
      continue;
    }
    NodeState now;
    now.phase = session.state() == SessionState::connected ? NodePhase::present : NodePhase::suspect;
    now.czxid = czxid_;
    publish(now);
    co_await changed();
  }
  co_return error_code{};
}

/// Writes only over data that were seen: other clients' nodes and data have other versions, mostly. The reply says
/// which node it was.
Awaitable<error_code> Keeper::write(Session session) {
  const Wish wanted = wish_to_try();
  const auto [error, stat] = co_await session.async_set_data(name_.node_path(), wanted.data, version_, use_tuple);
  if (error) {
    write_is_ambiguous_ = write_is_ambiguous_ || outcome_of(error) == Outcome::ambiguous;
    co_return error;
  }
  write_is_ambiguous_ = false;
  version_ = stat.version;
  if (stat.czxid != czxid_) co_return make_error_code(Error::bad_version);
  written_ = wanted.number;
  told_.happen();
  co_return error_code{};
}

std::shared_ptr<Keeper::Alarm> Keeper::arm(Watch& watch) {
  auto alarm = std::make_shared<Alarm>();
  watch.async_wait(asio::bind_executor(client().get_executor(),
                                       [weak = weak_from_this(), alarm](error_code error, const WatchEvent& event) {
                                         const auto self = weak.lock();
                                         if (!self || error == asio::error::operation_aborted) return;
                                         alarm->rung = true;
                                         alarm->deleted = !error && event.type == WatchEventType::node_deleted;
                                         self->changed_.happen();
                                       }));
  return alarm;
}

/// New data do not wait for the failures of others.
Awaitable<void> Keeper::back_off(Session session, int failures) {
  constexpr ExponentialBackoffRetry policy{100ms, std::numeric_limits<int>::max(), 10s};
  FailedTry failed;
  failed.retry = failures;
  failed.random = random_bits();
  const auto until = *after(policy.wait_before(failed).value_or(policy.max_wait));
  const auto has_new_data = [this] {
    const std::uint64_t number = wish().number;
    return number != tried_ && number != written_;
  };
  while (!is_over(session) && Clock::now() < until && !has_new_data()) co_await changed(until);
}

}  // namespace zklock::detail

// How a Keeper ends: what it has created goes, also what a lost reply may have hidden.
#include "keeper.hpp"

#include <zklock/recipe_kit/session_ops.hpp>

#include <utility>

namespace zklock::detail {

/// The delete of a node that is there for certain is on the wire before this returns, if it is called on the serial
/// executor, so that a client that is closed next has still sent it. What others may have taken over is looked at first.
void Keeper::close() {
  asio::dispatch(client().get_executor(), [self = shared_from_this()] {
    if (std::exchange(self->closing_, true)) return;
    const bool is_certain = self->state().phase == NodePhase::present && !self->may_take_over();
    if (is_certain && self->options_.at_close == AtClose::remove) self->remove_early();
    self->publish({});
    self->changed_.happen();
    self->touching_.happen();
  });
}

void Keeper::remove_early() {
  early_ = make_error_code(Error::connection_loss);
  is_removing_ = true;
  session_->async_remove(name_.node_path(), version_,
                         asio::bind_executor(client().get_executor(), [self = shared_from_this()](error_code error) {
                           self->early_ = error;
                           self->is_removing_ = false;
                           self->changed_.happen();
                         }));
}

Awaitable<error_code> Keeper::clean_up() {
  while (is_removing_) co_await changed();
  if (early_ && (!*early_ || *early_ == Error::no_node)) co_return error_code{};
  const bool is_ours = claim_ || !name_.is_known();
  if (options_.at_close == AtClose::leave || !was_sent_ || !is_ours) co_return error_code{};
  for (Session session = *session_;;) {
    if (is_final(session.state())) {
      if (is_ephemeral(options_.node.mode)) co_return error_code{};  // the session's end deletes it
      auto [error, next] = co_await client().async_session(path(), Deadline{}, use_tuple);
      if (error) co_return error;
      session = std::move(next);
    }
    const error_code error = co_await remove_on(session);
    if (!is_session_lost(error)) co_return error;
  }
}

/// Deletes the node, however often the link is lost.
Awaitable<error_code> Keeper::remove_on(Session session) {
  for (;;) {
    error_code error = co_await remove_once(session);
    if (error == Error::bad_version) continue;
    if (is_retryable(error)) {
      error = co_await pause_before_retry(session);
      if (!error) continue;
    }
    co_return error;
  }
}

/// Looks behind a sync, which waits for what was under way when a link was lost, and deletes the node only if it is the
/// client's own.
Awaitable<error_code> Keeper::remove_once(Session session) {
  if (!name_.is_known()) {
    if (!name_.may_exist()) co_return error_code{};
    const error_code error = co_await name_.find(session, sessions_);
    if (error || !name_.is_known()) co_return error;
    doubt_.found();
  }
  const std::string& path = name_.node_path();
  session.async_sync(path, asio::bind_executor(session.get_executor(), [](error_code) {}));
  const auto [unread, stat] = co_await session.async_exists(path, use_tuple);
  if (unread || !stat) co_return unread;
  PathSeen seen;
  seen.exists = true;
  seen.owner = owner_of(stat->ephemeral_owner, session.id(), sessions_);
  if (seen.owner == NodeOwner::this_session) doubt_.found();
  const bool is_ours = next_step(is_ephemeral(options_.node.mode), NodeConflict::wait, seen) != KeepStep::wait;
  if (!is_ours) co_return error_code{};
  const auto [error] = co_await session.async_remove(path, stat->version, use_tuple);
  co_return error == Error::no_node ? error_code{} : error;
}

/// A leader of 3.8.0 may carry out a create whose reply was lost after its node was looked for, and even after that was
/// deleted [F16b]: looks several times within a session timeout, as long as that may be.
Awaitable<void> Keeper::remove_late_nodes(Session session) {
  constexpr int looks = 4;
  for (int look = 0; look <= looks && doubt_.at(Clock::now()); ++look) {
    const auto next = Clock::now() + (look > 0 ? session.timeout() / looks : std::chrono::milliseconds{});
    while (Clock::now() < next && !is_final(session.state())) co_await changed(next);
    const auto data = doubt_.at(Clock::now());
    if (!data || is_final(session.state())) co_return;
    co_await name_.remove_late(session, *data);
  }
}

}  // namespace zklock::detail

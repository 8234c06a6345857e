#include "acquire.hpp"

#include "kept_acquire.hpp"
#include "sequence_number.hpp"
#include "thread_leases.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/locks/lock_data.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace zklock {

using detail::HeldLock;
using detail::KeepSettings;
using detail::KeptLock;
using detail::LeaseShare;
using detail::LockAttempt;
using detail::LockCore;

namespace {

/// Acquires the read lock for the owner of the write lock. The writer's queue position is ahead of all waiters, and so
/// is the reader's, which has the same number: no other client can get the lock in between when the writer's node is
/// deleted (Curator's way).
///
/// An owner that was told that it has lost the write lock does not get the read lock by it, though the writer's node
/// may still exist.
Awaitable<Result<Granted>> read_beside(std::shared_ptr<HeldLock> writer, const LockCore& core) {
  if (writer->is_lost()) co_return make_error_code(LockError::lock_lost);
  const std::string& directory = core.path();
  const Session session = writer->session();
  const std::string writers_name{node_name(writer->node().path)};
  const auto sequence = parse_sequence(writers_name, core.marker(LockKind::write));
  if (!sequence) co_return make_error_code(Error::protocol_error);
  QueueNode queue_node{session, directory, core.marker(LockKind::read),
                       format_lock_data({core.client().client_id(), 1}), format_sequence(*sequence)};
  queue_node.join_local_queue(core.local_queue(), LockKind::read);
  const auto children = co_await enqueue(session, core, queue_node);
  if (!children && children.error() == Error::no_node) co_return make_error_code(LockError::lock_lost);
  if (!children) co_return is_final(session.state()) ? make_error_code(LockError::lock_lost) : children.error();
  queue_node.on_listed(*children);
  // If an operator has deleted the writer's node, its number proves nothing.
  if (std::ranges::find(*children, writers_name) == children->end()) co_return make_error_code(LockError::lock_lost);
  const error_code dead = co_await prove_alive(session);
  if (writer->is_lost()) co_return make_error_code(LockError::lock_lost);
  if (dead) co_return dead;
  if (const auto waiter = queue_node.local_waiter(); waiter && waiter->is_deleted())
    co_return make_error_code(LockError::lock_lost);
  Granted granted{session, queue_node.node(), queue_node.local_waiter(), queue_node.late_node()};
  queue_node.detach();
  co_return std::move(granted);
}

/// Enters the lock again if the owner already holds it, maybe by the attempt that `told`, if it is not null, has waited
/// for. std::nullopt: the owner does not hold it.
std::optional<Result<Lease>> enter_again(const LockCore& core, Owner owner, LockKind kind, LockAttempt* told) {
  const auto held_lock = core.held_by(owner, kind);
  if (!held_lock) return std::nullopt;
  const auto fail = [told](error_code error) { return told ? told->failed(error) : error; };
  if (held_lock->state() == LeaseState::lost) return fail(LockError::lock_lost);
  switch (held_lock->enter(told)) {
    case HeldLock::Entered::yes: return Lease{std::make_shared<LeaseShare>(held_lock)};
    case HeldLock::Entered::too_often: return fail(LockError::too_many_reentries);
    case HeldLock::Entered::ended: break;
  }
  return std::nullopt;
}

}  // namespace

Awaitable<Result<Lease>> acquire(std::shared_ptr<LockCore> core, Owner owner, LockKind kind, Limits limits,
                                 NodeTraits node, KeepSettings keep) {
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  std::optional<LockAttempt> told;
  detail::PathShare share;
  for (;;) {
    if (auto again = enter_again(*core, owner, kind, told ? &*told : nullptr)) co_return std::move(*again);
    if (!told) {
      if (core->kept()) ask_for_kept(*core, kind, keep);
      told.emplace(*core, kind, limits, cancellation);
      auto used = core->use_as(kind);
      if (!used) co_return told->failed(used.error());
      share = std::move(*used);
    }
    const auto* other_attempt = core->in_progress(owner, kind);
    if (!other_attempt) break;
    if (limits.try_once && !other_attempt->is_given_up()) co_return told->failed(make_error_code(Error::timed_out));
    const auto end_of_other = other_attempt->end;
    co_await end_of_other->wait();
    if (cancellation.cancelled() != asio::cancellation_type::none)
      co_return told->failed(make_error_code(asio::error::operation_aborted));
  }
  const LockCore::AcquireInProgress in_progress{*core, owner, kind, cancellation};
  if (const auto reader = kind == LockKind::write ? core->held_by(owner, LockKind::read) : nullptr)
    co_return told->failed(reader->is_lost() ? make_error_code(LockError::lock_lost)
                                             : make_error_code(Error::would_deadlock));
  const auto writer = kind == LockKind::read ? core->held_by(owner, LockKind::write) : nullptr;
  KeptLock::Front front;
  if (keep.is_on() && kind != LockKind::read) {
    for (;;) {
      auto local = co_await acquire_locally(core, owner, kind, limits, keep, told->number());
      if (!local) co_return told->failed(local.error());
      if (local->held_lock) {
        core->add(local->held_lock);
        told->granted(*local->held_lock);
        co_return Lease{std::make_shared<LeaseShare>(std::move(local->held_lock))};
      }
      front = std::move(local->front);
      if (!local->enters_again) break;
      co_await asio::post(core->client().get_executor(), use_tuple);
      if (auto again = enter_again(*core, owner, kind, &*told)) co_return std::move(*again);
    }
  }
  const LockRequest request{*core, kind, *told, limits.try_once, node, front.lock()};
  auto granting = writer ? read_beside(writer, *core) : wait_in_queue(core->client(), request, limits.deadline);
  auto granted = co_await std::move(granting);
  if (!granted && granted.error() != Error::timed_out && granted.error() != asio::error::operation_aborted)
    front.fail();
  if (!granted) co_return told->failed(granted.error());
  if (auto held_lock = hold_to_keep(core, owner, kind, keep, *granted, share, front, told->number())) {
    core->add(held_lock);
    told->granted(*held_lock);
    co_return Lease{std::make_shared<LeaseShare>(std::move(held_lock))};
  }
  auto held_lock = HeldLock::make(core, owner, kind, std::move(granted->session), std::move(granted->node), *told);
  held_lock->keep(std::move(share));
  held_lock->keep(std::move(front));
  held_lock->set_local_waiter(std::move(granted->local_waiter));
  held_lock->expect_late_node(std::move(granted->late_node));
  if (writer) held_lock->take_token_of(*writer);
  core->add(held_lock);
  told->granted(*held_lock);
  if (granted->verifier == Granted::Verifier::handoff) held_lock->ask_handoff();
  if (granted->verifier == Granted::Verifier::server) held_lock->ask_server();
  co_return Lease{std::make_shared<LeaseShare>(std::move(held_lock))};
}

namespace detail {

void start_acquire(std::shared_ptr<ThreadLeases> lock, LockKind kind, Owner owner, WaitPolicy wait, LockSettings how,
                   Handler<Lease> handler) {
  const auto core = lock->core();
  const KeepSettings keep{how};
  if (auto share = keep.is_on() ? acquire_at_once(core, owner, kind, keep) : nullptr) {
    auto complete = [share = std::move(share), handler = std::move(handler)]() mutable {
      std::move(handler)(error_code{}, Lease{std::move(share)});
    };
    return asio::post(core->client().get_executor(), std::move(complete));
  }
  const Limits limits = limits_of(wait, core->client());
  auto body = acquire(core, owner, kind, limits, NodeTraits{core->client()}, keep);
  spawn_operation(core->client().get_executor(), limits.deadline, std::move(handler), std::move(body), core,
                  limits.at_deadline);
}

}  // namespace detail

}  // namespace zklock

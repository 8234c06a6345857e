#include "acquire.hpp"

#include "kept_acquire.hpp"
#include "kept_read.hpp"
#include "read_beside.hpp"
#include "thread_leases.hpp"

#include <optional>
#include <utility>

namespace zklock {

using detail::HeldLock;
using detail::KeepSettings;
using detail::LeaseShare;
using detail::LockAttempt;
using detail::LockCore;

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

namespace {

/// Waits until no acquire of this owner is in progress, and enters the lock again if the last one got it. std::nullopt:
/// the owner does not hold the lock.
Awaitable<std::optional<Result<Lease>>> wait_for_own_acquires(LockCore& core, Owner owner, LockKind kind, bool try_once,
                                                              LockAttempt& told) {
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  while (auto* other = core.in_progress(owner, kind)) {
    if (try_once && !other->is_given_up()) co_return told.failed(make_error_code(Error::timed_out));
    const auto end_of_other = core.end_of(*other);
    co_await end_of_other->wait();
    if (cancellation.cancelled() != asio::cancellation_type::none)
      co_return told.failed(make_error_code(asio::error::operation_aborted));
    if (auto again = enter_again(core, owner, kind, &told)) co_return std::move(*again);
  }
  co_return std::nullopt;
}

}  // namespace

Awaitable<Result<Lease>> acquire(std::shared_ptr<LockCore> core, Owner owner, LockKind kind, Limits limits,
                                 NodeTraits node, KeepSettings keep) {
  auto again = enter_again(*core, owner, kind, nullptr);
  if (again) co_return std::move(*again);
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  LockAttempt told{*core, kind, limits, cancellation};
  auto share = core->use_as(kind, keep);
  if (!share) co_return told.failed(share.error());
  if (core->in_progress(owner, kind)) {  // seldom: otherwise it costs no coroutine
    auto waiting = wait_for_own_acquires(*core, owner, kind, limits.try_once, told);
    again = co_await std::move(waiting);
    if (again) co_return std::move(*again);
  }
  const LockCore::AcquireInProgress in_progress{*core, owner, kind, cancellation};
  if (kind == LockKind::read)  // a thread may have entered a kept node for the owner until now
    again = enter_again(*core, owner, kind, &told);
  if (again) co_return std::move(*again);
  if (const auto reader = kind == LockKind::write ? core->held_by(owner, LockKind::read) : nullptr)
    co_return told.failed(reader->is_lost() ? make_error_code(LockError::lock_lost)
                                            : make_error_code(Error::would_deadlock));
  const auto writer = kind == LockKind::read ? core->held_by(owner, LockKind::write) : nullptr;
  const LockRequest request{core, owner, kind, limits, node, told, *share, keep.max_hold};
  const bool is_reader = kind == LockKind::read;
  const bool keeps = keep.is_on() && (!is_reader || keep.keeping == Keeping::silent);
  auto acquiring = writer   ? read_beside(request, writer)
                   : !keeps ? wait_in_queue(request)
                            : (is_reader ? read_to_keep(request, keep) : acquire_to_keep(request, keep));
  co_return co_await std::move(acquiring);
}

namespace detail {

void start_acquire(std::shared_ptr<ThreadLeases> lock, LockKind kind, Owner owner, WaitPolicy wait, LockSettings how,
                   Handler<Lease> handler) {
  const auto core = lock->core();
  const KeepSettings keep{how};
  if (keep.is_on() && complete_at_once(core, owner, kind, keep, handler)) return;
  const Limits limits = limits_of(wait, core->client());
  auto body = acquire(core, owner, kind, limits, NodeTraits{core->client()}, keep);
  spawn_operation(core->client().get_executor(), limits.deadline, std::move(handler), std::move(body), core,
                  limits.at_deadline);
}

}  // namespace detail

}  // namespace zklock

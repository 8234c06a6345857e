#include "lock_events.hpp"

#include "held_lock.hpp"
#include "lock_log.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/shared_state.hpp>
#include <zklock/recipes/locks/lock_error.hpp>

#include <spdlog/spdlog.h>

#include <atomic>
#include <set>

namespace zklock::detail {

bool is_read(const LockTarget& lock) noexcept {
  if (!lock.is_heard()) return false;
  const auto& logger = lock.client().config().logger;
  return lock.observers() || (logger && logger->should_log(spdlog::level::debug));
}

void tell_listeners(const LockTarget& lock, LockEvent event) noexcept {
  event.client_id = lock.client().client_id();
  event.path = lock.server_path();
  if (lock.client().config().logger) log_event(lock, event);
  if (const auto* observers = lock.observers()) observers->tell(&LockObserver::on_lock, event);
}

// ---- another kind of lock

namespace {

/// The paths that the log has been told of. Threads: the client's executor.
class ToldOnce {
 public:
  /// True for the first call with that path. If there are very many paths, the early ones are forgotten.
  [[nodiscard]] bool is_first(const std::string& path) {
    if (paths_.size() >= most) paths_.clear();
    return paths_.insert(path).second;
  }

 private:
  static constexpr std::size_t most = 1'000;
  std::set<std::string> paths_;
};

}  // namespace

namespace {

std::string_view name_of(LockKind kind) noexcept {
  if (kind == LockKind::mutex) return "mutex";
  return kind == LockKind::latch ? "leader latch" : "read/write lock";
}

}  // namespace

void warn_of_other_kind(const LockTarget& lock, LockKind kind, const Session& session, std::string_view node) {
  const auto& client = lock.client();
  const auto& logger = client.config().logger;
  const std::string path = client.server_path(lock.path());
  if (!logger || !client.shared_state().keep<ToldOnce>()->is_first(path)) return;
  const auto theirs = parse_lock_node(node);
  logger->warn(
      "zklock: session={:#x} path={} lock={} node={}: a {} has a node here, which does not exclude this {}; use one "
      "kind a path",
      static_cast<std::uint64_t>(session.id()), zklock::quoted(path), to_string(kind), zklock::quoted(node),
      name_of(theirs ? theirs->kind : LockKind::latch), name_of(kind));
}

// ---- one attempt

namespace {

/// The attempt cannot succeed in the way it was asked for, whatever the servers would say.
bool is_refusal(error_code error) {
  return error == Error::would_deadlock || error == LockError::mixed_lock_kinds ||
         error == LockError::too_many_reentries || error == Error::invalid_path;
}

}  // namespace

LockAttempt::LockAttempt(const LockTarget& lock, LockKind kind, const Limits& limits,
                         const asio::cancellation_state& cancellation)
    : lock_{lock}, kind_{kind}, limits_{limits}, cancellation_{cancellation} {
  static std::atomic<std::uint64_t> attempts{0};
  number_ = ++attempts;
  if (lock_.is_heard()) tell(lock_, {.phase = LockPhase::asked, .kind = kind_, .attempt = number_});
}

LockAttempt::~LockAttempt() {
  if (!ended_ && !lock_.client().in_forked_child())
    static_cast<void>(failed(make_error_code(asio::error::operation_aborted)));
}

void LockAttempt::end() noexcept {
  ended_ = true;
  slow_wait_.unlink();
}

void LockAttempt::enqueued(const Session& session, std::string_view node_path) const {
  if (!lock_.is_heard()) return;
  tell(lock_, {.phase = LockPhase::enqueued,
               .kind = kind_,
               .attempt = number_,
               .session_id = session.id(),
               .node_path = node_path});
}

void LockAttempt::waits(const Session& session, std::string_view node_path, std::string_view behind) const {
  if (!lock_.is_heard()) return;
  SlowWaits::add(lock_, slow_wait_, kind_, number_, began_, node_path);
  tell(lock_, {.phase = LockPhase::waiting,
               .kind = kind_,
               .attempt = number_,
               .session_id = session.id(),
               .node_path = node_path,
               .behind = behind});
}

void LockAttempt::granted(const HeldLock& held_lock) {
  end();
  if (!lock_.is_heard()) return;
  tell(lock_, {.phase = LockPhase::granted,
               .kind = kind_,
               .attempt = number_,
               .session_id = held_lock.session().id(),
               .owner = held_lock.owner().number(),
               .node_path = held_lock.node().path,
               .fencing_token = held_lock.fencing_token(),
               .waited = held_lock.granted_at() - began_});
}

void LockAttempt::entered_again(const HeldLock& held_lock) {
  end();
  if (!lock_.is_heard()) return;
  tell(lock_, {.phase = LockPhase::reentered,
               .kind = kind_,
               .attempt = number_,
               .session_id = held_lock.session().id(),
               .owner = held_lock.owner().number(),
               .node_path = held_lock.node().path,
               .fencing_token = held_lock.fencing_token(),
               .waited = Clock::now() - began_,
               .count = held_lock.count()});
}

/// Maps the error as outcome_of_body() does.
error_code LockAttempt::failed(error_code error) {
  end();
  if (!lock_.is_heard()) return error;
  const auto now = Clock::now();
  const bool is_overdue = limits_.deadline && *limits_.deadline <= now;
  error_code outcome = error;
  if (error == asio::error::operation_aborted && is_overdue) outcome = make_error_code(limits_.at_deadline);
  if (error == Error::not_connected && !is_overdue && cancellation_.cancelled() != asio::cancellation_type::none)
    outcome = asio::error::operation_aborted;
  LockEvent event{.phase = LockPhase::failed, .kind = kind_, .attempt = number_, .waited = now - began_};
  if (outcome == Error::timed_out) {
    event.phase = LockPhase::timed_out;
  } else if (outcome == asio::error::operation_aborted) {
    event.phase = LockPhase::cancelled;
  } else {
    if (is_refusal(outcome)) event.phase = LockPhase::refused;
    event.error = outcome;
  }
  tell(lock_, event);
  return error;
}

}  // namespace zklock::detail

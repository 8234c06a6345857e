#include "lock_events.hpp"

#include "lock_core.hpp"

#include <zklock/detail/shelf.hpp>
#include <zklock/path.hpp>

#include <spdlog/spdlog.h>

#include <atomic>
#include <iterator>
#include <set>

namespace zklock::detail {

std::string_view to_string(LockPhase phase) noexcept {
  switch (phase) {
    case LockPhase::asked: return "asked";
    case LockPhase::granted: return "granted";
    case LockPhase::timed_out: return "timed_out";
    case LockPhase::cancelled: return "cancelled";
    case LockPhase::failed: return "failed";
    case LockPhase::enqueued: return "enqueued";
    case LockPhase::waiting: return "waiting";
    case LockPhase::entered_again: return "entered_again";
    case LockPhase::revocation_requested: return "revocation_requested";
    case LockPhase::released: return "released";
    case LockPhase::lost: return "lost";
  }
  return "unknown";
}

namespace {

constexpr std::string_view closed_by_us = "closed";

spdlog::level::level_enum level_of(const LockEvent& event) {
  if (event.phase != LockPhase::lost) return spdlog::level::debug;
  return event.cause == closed_by_us ? spdlog::level::info : spdlog::level::warn;
}

double in_milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>{time}.count(); }

std::string describe(const LockCore& lock, const LockEvent& event) {
  std::string line;
  const auto out = std::back_inserter(line);
  const auto session = event.session ? static_cast<std::uint64_t>(event.session->id()) : 0;
  spdlog::fmt_lib::format_to(out, "zklock: session={:#x} path={} lock={} event={}", session,
                             quoted(lock.client().server_path(lock.path())), to_string(event.kind),
                             to_string(event.phase));
  if (event.attempt != 0) spdlog::fmt_lib::format_to(out, " attempt={}", event.attempt);
  if (!event.node_path.empty()) spdlog::fmt_lib::format_to(out, " node={}", quoted(node_name(event.node_path)));
  if (!event.behind.empty()) spdlog::fmt_lib::format_to(out, " behind={}", quoted(node_name(event.behind)));
  if (event.token != 0) spdlog::fmt_lib::format_to(out, " token={}", event.token);
  if (event.count != 0) spdlog::fmt_lib::format_to(out, " count={}", event.count);
  if (event.waited) spdlog::fmt_lib::format_to(out, " waited={:.1f}ms", in_milliseconds(*event.waited));
  if (event.held) spdlog::fmt_lib::format_to(out, " held={:.1f}ms", in_milliseconds(*event.held));
  if (event.error) spdlog::fmt_lib::format_to(out, " error={} ({})", event.error.value(), event.error.message());
  if (!event.cause.empty()) spdlog::fmt_lib::format_to(out, " cause={}", event.cause);
  return line;
}

}  // namespace

bool is_read(const LockCore& lock) noexcept {
  const auto& logger = lock.client().config().logger;
  return logger && logger->should_log(spdlog::level::debug);
}

void tell(const LockCore& lock, const LockEvent& event) noexcept {
  const auto& logger = lock.client().config().logger;
  const auto level = level_of(event);
  if (!logger || !logger->should_log(level)) return;
  try {
    logger->log(level, spdlog::string_view_t{describe(lock, event)});
  } catch (const std::exception&) {  // out of memory: the lock goes on without the line
  }
}

// ---- another kind of lock

namespace {

/// Paths that the log has been told of. Threads: the client's executor.
class ToldOnce {
 public:
  /// True for the first time. Of very many paths the early ones are forgotten.
  [[nodiscard]] bool is_first(const std::string& path) {
    if (paths_.size() >= most) paths_.clear();
    return paths_.insert(path).second;
  }

 private:
  static constexpr std::size_t most = 1'000;
  std::set<std::string> paths_;
};

}  // namespace

void warn_of_other_kind(const LockCore& lock, LockKind kind, const Session& session, std::string_view node) {
  const auto& client = lock.client();
  const auto& logger = client.config().logger;
  const std::string path = client.server_path(lock.path());
  if (!logger || !client.shelf().keep<ToldOnce>()->is_first(path)) return;
  const bool is_mutex = kind == LockKind::mutex;
  logger->warn(
      "zklock: session={:#x} path={} lock={} node={}: a {} has a node here, which does not exclude this {}; use one "
      "kind a path",
      static_cast<std::uint64_t>(session.id()), quoted(path), to_string(kind), quoted(node),
      is_mutex ? "read/write lock" : "mutex", is_mutex ? "mutex" : "read/write lock");
}

// ---- one attempt

LockAttempt::LockAttempt(const LockCore& lock, LockKind kind, const Limits& limits,
                         const asio::cancellation_state& cancellation)
    : lock_{lock}, kind_{kind}, limits_{limits}, cancellation_{cancellation} {
  static std::atomic<std::uint64_t> attempts{0};
  number_ = ++attempts;
  tell(lock_, {.phase = LockPhase::asked, .kind = kind_, .attempt = number_});
}

LockAttempt::~LockAttempt() {
  if (!ended_ && !lock_.client().in_forked_child())
    static_cast<void>(failed(make_error_code(asio::error::operation_aborted)));
}

void LockAttempt::enqueued(const Session& session, std::string_view node_path) const {
  tell(lock_,
       {.phase = LockPhase::enqueued, .kind = kind_, .attempt = number_, .session = &session, .node_path = node_path});
}

void LockAttempt::waits(const Session& session, std::string_view node_path, std::string_view behind) const {
  tell(lock_, {.phase = LockPhase::waiting,
               .kind = kind_,
               .attempt = number_,
               .session = &session,
               .node_path = node_path,
               .behind = behind});
}

void LockAttempt::granted(const Holding& holding) {
  ended_ = true;
  tell(lock_, {.phase = LockPhase::granted,
               .kind = kind_,
               .attempt = number_,
               .session = &holding.session(),
               .node_path = holding.node().path,
               .token = holding.fencing_token(),
               .waited = holding.granted_at() - began_});
}

void LockAttempt::entered_again(const Holding& holding) {
  ended_ = true;
  tell(lock_, {.phase = LockPhase::entered_again,
               .kind = kind_,
               .attempt = number_,
               .session = &holding.session(),
               .node_path = holding.node().path,
               .token = holding.fencing_token(),
               .waited = Clock::now() - began_,
               .count = holding.count()});
}

/// As outcome_of_body() does it.
error_code LockAttempt::failed(error_code error) {
  ended_ = true;
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
    event.error = outcome;
  }
  tell(lock_, event);
  return error;
}

}  // namespace zklock::detail

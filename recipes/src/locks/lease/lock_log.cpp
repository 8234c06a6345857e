#include "lock_log.hpp"

#include <zklock/path.hpp>

#include <spdlog/spdlog.h>

#include <iterator>
#include <string>

namespace zklock {

std::string_view to_string(LockPhase phase) noexcept {
  switch (phase) {
    case LockPhase::asked: return "asked";
    case LockPhase::granted: return "granted";
    case LockPhase::reentered: return "reentered";
    case LockPhase::timed_out: return "timed_out";
    case LockPhase::cancelled: return "cancelled";
    case LockPhase::refused: return "refused";
    case LockPhase::failed: return "failed";
    case LockPhase::enqueued: return "enqueued";
    case LockPhase::waiting: return "waiting";
    case LockPhase::slow: return "slow";
    case LockPhase::suspect: return "suspect";
    case LockPhase::held_again: return "held_again";
    case LockPhase::revocation_requested: return "revocation_requested";
    case LockPhase::released: return "released";
    case LockPhase::lost: return "lost";
  }
  return "unknown";
}

bool ends_attempt(LockPhase phase) noexcept { return phase >= LockPhase::granted && phase <= LockPhase::failed; }

namespace detail {

namespace {

namespace fmt_lib = spdlog::fmt_lib;

constexpr std::string_view closed_by_us = "closed";

spdlog::level::level_enum level_of(const LockEvent& event) {
  if (event.phase == LockPhase::slow) return spdlog::level::warn;
  if (event.phase != LockPhase::lost) return spdlog::level::debug;
  return event.cause == closed_by_us ? spdlog::level::info : spdlog::level::warn;
}

double in_milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>{time}.count(); }
double in_seconds(Clock::duration time) { return std::chrono::duration<double>{time}.count(); }

template <class Out>
void describe_holder(Out out, const LockHolder& holder) {
  fmt_lib::format_to(out, "; held by {}, session {:#x}, whose node {} is {:.0f} s old",
                     holder.client_id.empty() ? "a client without an id" : zklock::quoted(holder.client_id),
                     static_cast<std::uint64_t>(holder.session_id), zklock::quoted(node_name(holder.node_path)),
                     in_seconds(holder.age));
}

std::string describe(const LockTarget& lock, const LockEvent& event) {
  std::string line;
  const auto out = std::back_inserter(line);
  const std::string path = event.path.empty() ? lock.client().server_path(lock.path()) : std::string{event.path};
  fmt_lib::format_to(out, "zklock: session={:#x} path={} lock={} event={}",
                     static_cast<std::uint64_t>(event.session_id), zklock::quoted(path), to_string(event.kind),
                     to_string(event.phase));
  if (event.attempt != 0) fmt_lib::format_to(out, " attempt={}", event.attempt);
  if (!event.node_path.empty()) fmt_lib::format_to(out, " node={}", zklock::quoted(node_name(event.node_path)));
  if (!event.behind.empty()) fmt_lib::format_to(out, " behind={}", zklock::quoted(node_name(event.behind)));
  if (event.fencing_token != 0) fmt_lib::format_to(out, " token={}", event.fencing_token);
  if (event.count != 0) fmt_lib::format_to(out, " count={}", event.count);
  if (event.waited) fmt_lib::format_to(out, " waited={:.1f}ms", in_milliseconds(*event.waited));
  if (event.held) fmt_lib::format_to(out, " held={:.1f}ms", in_milliseconds(*event.held));
  if (event.error) fmt_lib::format_to(out, " error={} ({})", event.error.value(), event.error.message());
  if (!event.cause.empty()) fmt_lib::format_to(out, " cause={}", event.cause);
  if (event.phase != LockPhase::slow) return line;
  fmt_lib::format_to(out, ": still waiting after {:.1f} s", in_seconds(event.waited.value_or(Clock::duration{})));
  if (event.ahead) fmt_lib::format_to(out, "; {} ahead", *event.ahead);
  if (event.holder) describe_holder(out, *event.holder);
  return line;
}

}  // namespace

void log_event(const LockTarget& lock, const LockEvent& event) noexcept {
  const auto& logger = lock.client().config().logger;
  const auto level = level_of(event);
  if (!logger->should_log(level)) return;
  try {
    logger->log(level, spdlog::string_view_t{describe(lock, event)});
  } catch (const std::exception&) {  // out of memory: the lock goes on without the log line
  }
}

}  // namespace detail
}  // namespace zklock

#include "audit_message.hpp"

#include <zklock/path.hpp>

#include <spdlog/common.h>
#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <optional>

namespace zklock::detail {

namespace {

namespace fmt_lib = spdlog::fmt_lib;
using namespace std::chrono;

std::string length_text(nanoseconds time) {
  if (time < 1s) return fmt_lib::format("{:.1f} ms", duration<double, std::milli>{time}.count());
  return fmt_lib::format("{:.1f} s", duration<double>{time}.count());
}

std::string after_text(const std::optional<Clock::duration>& time) {
  return time ? " after " + length_text(*time) : std::string{};
}

std::string holder_message(const AuditRecord& record) {
  if (!record.has_holder) return {};
  const auto client = record.text(AuditText::holder_client_id);
  return "; held by " + (client.empty() ? "a client without an id" : std::string{client}) + ", session " +
         session_text(record.holder_session_id) +
         fmt_lib::format(", for {:.0f} s", duration<double>{record.holder_age}.count());
}

std::string lock_message(const AuditRecord& record) {
  const auto lock = fmt_lib::format("{} {}", to_string(record.kind), record.text(AuditText::path));
  switch (record.phase) {
    case LockPhase::granted: return "granted " + lock + after_text(record.waited);
    case LockPhase::reentered: return "reentered " + lock + fmt_lib::format(", held {} times", record.count);
    case LockPhase::timed_out: return "timed out on " + lock + after_text(record.waited);
    case LockPhase::cancelled: return "cancelled the wait for " + lock + after_text(record.waited);
    case LockPhase::failed: return "failed on " + lock + after_text(record.waited) + ": " + record.error.message();
    case LockPhase::waiting: return "waiting for " + lock;
    case LockPhase::slow:
      return "still waiting for " + lock + after_text(record.waited) +
             (record.ahead ? fmt_lib::format("; {} ahead", *record.ahead) : "") + holder_message(record);
    case LockPhase::revocation_requested: return "asked to release " + lock;
    case LockPhase::released: return "released " + lock + after_text(record.held);
    case LockPhase::lost:
      return "lost " + lock + after_text(record.held) + ": " + std::string{record.text(AuditText::cause)};
    case LockPhase::asked:
    case LockPhase::refused:
    case LockPhase::enqueued:
    case LockPhase::suspect:
    case LockPhase::held_again: break;
  }
  return std::string{to_string(record.phase)} + " " + lock;
}

std::string node_message(const AuditRecord& record) {
  const std::string path{record.text(AuditText::path)};
  switch (record.node_phase) {
    case NodePhase::absent: return "lost the node of " + path;
    case NodePhase::present: return "keeps the node of " + path;
    case NodePhase::suspect: return "does not know whether the node of " + path + " is there";
    case NodePhase::taken: return "found another client's node at " + path;
    case NodePhase::failing: return "cannot keep the node of " + path + ": " + record.error.message();
    case NodePhase::ended: break;
  }
  return "keeps the node of " + path + " no more" + (record.error ? ": " + record.error.message() : "");
}

std::string revoke_message(const AuditRecord& record) {
  const auto refusal = record.text(AuditText::refusal);
  const std::string node = join_path(record.text(AuditText::path), record.text(AuditText::node));
  if (!refusal.empty()) return "did not ask the client of " + node + " to release its lock: " + std::string{refusal};
  if (record.error) return "could not ask the client of " + node + " to release its lock: " + record.error.message();
  return "asked the client of " + node + " to release its lock";
}

}  // namespace

std::string session_text(std::int64_t session_id) {
  return fmt_lib::format("{:#x}", static_cast<std::uint64_t>(session_id));
}

std::string message_of(const AuditRecord& record) {
  if (record.action == AuditAction::lock) return lock_message(record);
  if (record.action == AuditAction::node) return node_message(record);
  if (record.action == AuditAction::revoke) return revoke_message(record);
  return fmt_lib::format("{} records were dropped", record.dropped);
}

}  // namespace zklock::detail

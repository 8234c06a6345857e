#include "audit_format.hpp"

#include "audit_message.hpp"
#include "error_names.hpp"
#include "line_builder.hpp"

#include <zklock/recipes/locks/lock_error.hpp>

#include <spdlog/common.h>
#include <spdlog/fmt/fmt.h>

#include <array>
#include <chrono>
#include <ctime>
#include <string_view>

#include <unistd.h>

namespace zklock::detail {

namespace {

namespace fmt_lib = spdlog::fmt_lib;
using namespace std::chrono;

std::string timestamp(system_clock::time_point time) {
  const auto since_epoch = duration_cast<microseconds>(time.time_since_epoch()).count();
  const auto whole = static_cast<std::time_t>(since_epoch / 1'000'000);
  std::tm utc{};
  ::gmtime_r(&whole, &utc);
  return fmt_lib::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                         utc.tm_hour, utc.tm_min, utc.tm_sec, since_epoch % 1'000'000);
}

// ---- why a record is no success

/// A loss has a cause instead of an error.
error_code error_of(const AuditRecord& record) noexcept {
  const auto cause = record.text(AuditText::cause);
  if (record.phase != LockPhase::lost || record.action != AuditAction::lock) return record.error;
  if (cause == "session_expired") return Error::session_expired;
  if (cause == "auth_failed") return Error::auth_failed;
  if (cause == "closed") return Error::closed;
  return LockError::lock_lost;
}

std::string_view outcome_of_lock(const AuditRecord& record) noexcept {
  switch (record.phase) {
    case LockPhase::timed_out:
    case LockPhase::cancelled:
    case LockPhase::refused:
    case LockPhase::lost: return "failure";
    case LockPhase::failed: return outcome_of(record.error) == Outcome::ambiguous ? "unknown" : "failure";
    case LockPhase::enqueued:
    case LockPhase::waiting:
    case LockPhase::slow:
    case LockPhase::suspect: return "unknown";  // not decided yet
    case LockPhase::asked:
    case LockPhase::granted:
    case LockPhase::reentered:
    case LockPhase::held_again:
    case LockPhase::revocation_requested:
    case LockPhase::released: break;
  }
  return "success";
}

std::string_view outcome_of_node(const AuditRecord& record) noexcept {
  const bool is_closed = record.node_phase == NodePhase::ended && (!record.error || record.error == Error::closed);
  return is_closed || record.node_phase == NodePhase::present ? "success" : "failure";
}

std::string_view outcome_of_record(const AuditRecord& record) noexcept {
  if (record.action == AuditAction::lock) return outcome_of_lock(record);
  if (record.action == AuditAction::node) return outcome_of_node(record);
  if (record.action == AuditAction::dropped || !record.text(AuditText::refusal).empty()) return "failure";
  if (!record.error) return "success";
  return outcome_of(record.error) == Outcome::ambiguous ? "unknown" : "failure";
}

std::string action_of(const AuditRecord& record) {
  if (record.action == AuditAction::dropped) return "audit.dropped";
  if (record.action == AuditAction::revoke) return "lock.revoke";
  if (record.action == AuditAction::node) return "node." + std::string{to_string(record.node_phase)};
  return "lock." + std::string{to_string(record.phase)};
}

// ---- the fields

class Fields {
 public:
  Fields(AuditFormat format, std::string& line, const AuditRecord& record) : line_{format, line}, record_{record} {}

  void add_common(const AuditLayout& layout) {
    line_.text("@timestamp", timestamp(record_.time));
    line_.text("log.level", is_warning(record_) ? "warn" : "info");
    line_.text("message", message_of(record_));
    line_.fields(layout.dataset);
    line_.text("event.action", action_of(record_));
    line_.text("event.outcome", outcome_of_record(record_));
    if (const auto lasted = record_.held ? record_.held : record_.waited)
      line_.number("event.duration", lasted->count());
    number("event.sequence", record_.sequence);
    line_.fields(layout.constants);
  }

  void add_zklock() {
    text(record_.action == AuditAction::node ? "zklock.path" : "zklock.lock.path", AuditText::path);
    if (record_.action == AuditAction::lock) line_.text("zklock.lock.kind", to_string(record_.kind));
    text("zklock.client.id", AuditText::client_id);
    number("zklock.client.owner", record_.owner);
    session("zklock.client.session", record_.session_id);
    number("zklock.fencing_token", static_cast<std::uint64_t>(record_.fencing_token));
    number("zklock.czxid", static_cast<std::uint64_t>(record_.czxid));
    text("zklock.node", AuditText::node);
    if (record_.ahead) line_.number("zklock.ahead", static_cast<std::int64_t>(*record_.ahead));
    number("zklock.count", record_.count);
    if (record_.waited) line_.seconds("zklock.wait_s", *record_.waited);
    if (record_.held) line_.seconds("zklock.hold_s", *record_.held);
    number("zklock.attempt", record_.attempt);
    number("zklock.dropped", record_.dropped);
    text("zklock.asked_by", AuditText::asked_by);
    text("user.name", AuditText::user_name);
    if (record_.has_holder) add_holder();
    if (record_.action == AuditAction::node) session("zklock.holder.session", record_.holder_session_id);
  }

  void add_error() {
    const error_code error = error_of(record_);
    const auto cause = record_.text(AuditText::cause);
    if (!error) return;
    line_.number("error.code", error.value());
    line_.text("error.type", cause.empty() ? error_name(error) : cause);
    line_.text("error.message", error.message());
  }

 private:
  void add_holder() {
    text("zklock.holder.id", AuditText::holder_client_id);
    session("zklock.holder.session", record_.holder_session_id);
    text("zklock.holder.node", AuditText::holder_node);
    line_.seconds("zklock.holder.age_s", record_.holder_age);
  }
  void text(std::string_view key, AuditText which) {
    if (const auto value = record_.text(which); !value.empty()) line_.text(key, value);
  }
  void number(std::string_view key, std::uint64_t value) {
    if (value != 0) line_.number(key, static_cast<std::int64_t>(value));
  }
  void session(std::string_view key, std::int64_t session_id) {
    if (session_id != 0) line_.text(key, session_text(session_id));
  }

  LineBuilder line_;
  const AuditRecord& record_;
};

std::string name_of_this_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

bool is_warning(const AuditRecord& record) noexcept {
  if (record.action == AuditAction::dropped) return true;
  if (record.action != AuditAction::lock) return outcome_of_record(record) != "success";
  return record.phase == LockPhase::lost || record.phase == LockPhase::failed || record.phase == LockPhase::slow;
}

AuditLayout make_layout(const AuditOptions& options) {
  AuditLayout layout{.format = options.format};
  LineBuilder dataset{layout.format, layout.dataset};
  dataset.text("ecs.version", "8.11.0");
  dataset.text("event.dataset", "zklock.audit");
  LineBuilder line{layout.format, layout.constants};
  const std::string host = options.host_name.empty() ? name_of_this_host() : options.host_name;
  if (!options.service_name.empty()) line.text("service.name", options.service_name);
  if (!host.empty()) line.text("host.name", host);
  line.number("process.pid", ::getpid());
  return layout;
}

void format_record(const AuditLayout& layout, const AuditRecord& record, std::string& line) {
  const bool is_json = layout.format == AuditFormat::json_lines;
  line.clear();
  if (is_json) line += '{';
  Fields fields{layout.format, line, record};
  fields.add_common(layout);
  fields.add_zklock();
  fields.add_error();
  if (is_json) line += '}';
}

}  // namespace zklock::detail

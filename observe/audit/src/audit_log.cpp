#include "audit_file.hpp"
#include "audit_format.hpp"
#include "audit_queue.hpp"
#include "audit_writer.hpp"

#include <zklock/audit/audit_log.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include <unistd.h>

namespace zklock {

namespace {

constexpr std::chrono::milliseconds period{1'000};

detail::AuditWriter::Sinks sinks_of(const AuditOptions& options) {
  auto sinks = options.sinks;
  if (std::ranges::find(sinks, nullptr) != sinks.end()) throw std::invalid_argument{"AuditOptions: a sink is null"};
  if (!options.file.empty()) sinks.push_back(std::make_shared<detail::AuditFile>(options.file));
  if (sinks.empty()) throw std::invalid_argument{"AuditOptions: neither a file nor a sink"};
  if (options.queue_size == 0) throw std::invalid_argument{"AuditOptions: a queue without room"};
  for (const auto& sink : sinks) sink->set_pattern("%v");
  return sinks;
}

}  // namespace

struct AuditLog::Parts {
  explicit Parts(const AuditOptions& options)
      : records_waiting{options.records_waiting},
        records_reentered{options.records_reentered},
        queue{options.queue_size, period},
        writer{queue, detail::make_layout(options), sinks_of(options)} {}

  [[nodiscard]] bool is_recorded(LockPhase phase) const noexcept {
    switch (phase) {
      case LockPhase::granted:
      case LockPhase::released:
      case LockPhase::lost:
      case LockPhase::timed_out:
      case LockPhase::cancelled:
      case LockPhase::failed:
      case LockPhase::revocation_requested:
      case LockPhase::slow: return true;
      case LockPhase::waiting: return records_waiting;
      case LockPhase::reentered: return records_reentered;
      case LockPhase::asked:
      case LockPhase::refused:
      case LockPhase::enqueued:
      case LockPhase::suspect:
      case LockPhase::held_again: break;
    }
    return false;
  }

  bool records_waiting;
  bool records_reentered;
  pid_t process = ::getpid();
  detail::AuditQueue queue;
  detail::AuditWriter writer;
};

AuditLog::AuditLog(AuditOptions options) : parts_{std::make_unique<Parts>(options)} {}

AuditLog::~AuditLog() {
  if (::getpid() != parts_->process) static_cast<void>(parts_.release());  // the thread is the parent's
}

void AuditLog::on_lock(const LockEvent& event) {
  if (!parts_->is_recorded(event.phase)) return;
  const auto urgency = event.phase == LockPhase::lost ? detail::AuditUrgency::at_once : detail::AuditUrgency::usual;
  parts_->queue.push(urgency, [&event](detail::AuditRecord& record) { record.assign(event); });
}

void AuditLog::on_node(const NodeEvent& event) {
  const bool is_first = event.before == event.state;
  const bool is_still_there = event.before.phase == NodePhase::suspect && event.before.czxid == event.state.czxid;
  if (is_first || is_still_there || event.state.phase == NodePhase::suspect) return;
  parts_->queue.push(detail::AuditUrgency::usual, [&event](detail::AuditRecord& record) { record.assign(event); });
}

void AuditLog::on_revoke(const RevokeEvent& event) {
  parts_->queue.push(detail::AuditUrgency::at_once, [&event](detail::AuditRecord& record) { record.assign(event); });
}

std::uint64_t AuditLog::records() const { return parts_->queue.written(); }
std::uint64_t AuditLog::dropped() const { return parts_->queue.dropped(); }

}  // namespace zklock

// What a record of the audit log says, before it is a line.
#pragma once

#include <zklock/audit/audit_log.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zklock::detail {

enum class AuditAction : std::uint8_t { lock, node, revoke, dropped };

/// The texts of a record.
enum class AuditText : std::uint8_t {
  path,
  client_id,
  node,
  cause,
  holder_client_id,
  holder_node,
  asked_by,
  user_name,
  refusal
};

/// A copy of an event. It is used again and again, and keeps its memory.
class AuditRecord {
 public:
  // They leave the time and the number to the queue.
  void assign(const LockEvent& event);
  void assign(const NodeEvent& event);
  void assign(const RevokeEvent& event);
  void assign_dropped(std::uint64_t number);

  [[nodiscard]] std::string_view text(AuditText which) const noexcept;

  std::chrono::system_clock::time_point time{};
  std::uint64_t sequence = 0;
  AuditAction action = AuditAction::lock;
  LockPhase phase = LockPhase::asked;  // of a lock
  NodePhase node_phase = NodePhase::absent;
  LockKind kind = LockKind::mutex;
  std::uint64_t attempt = 0;
  std::int64_t session_id = 0;
  std::uint64_t owner = 0;
  std::int64_t fencing_token = 0;
  std::int64_t czxid = 0;
  std::optional<Clock::duration> waited{};
  std::optional<Clock::duration> held{};
  std::uint32_t count = 0;
  error_code error{};
  std::optional<std::size_t> ahead{};
  bool has_holder = false;
  std::int64_t holder_session_id = 0;
  Clock::duration holder_age{};
  std::uint64_t dropped = 0;

 private:
  static constexpr std::size_t texts = static_cast<std::size_t>(AuditText::refusal) + 1;

  void clear() noexcept;
  void set(AuditText which, std::string_view text);

  std::string text_;
  std::array<std::size_t, texts> offsets_{};
  std::array<std::size_t, texts> sizes_{};
};

}  // namespace zklock::detail

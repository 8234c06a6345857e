// A record of the audit log as a line.
#pragma once

#include "audit_record.hpp"

#include <zklock/audit/audit_log.hpp>

#include <string>

namespace zklock::detail {

/// What all lines of one log share.
struct AuditLayout {
  AuditFormat format = AuditFormat::json_lines;
  std::string dataset{};    ///< ecs.version, event.dataset, formatted
  std::string constants{};  ///< service.name, host.name, process.pid, formatted
};

[[nodiscard]] AuditLayout make_layout(const AuditOptions& options);

/// Writes the line, without its end, in place of what `line` has.
void format_record(const AuditLayout& layout, const AuditRecord& record, std::string& line);

[[nodiscard]] bool is_warning(const AuditRecord& record) noexcept;

}  // namespace zklock::detail

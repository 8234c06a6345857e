// The audit logs of the campaign's processes, as the judge reads them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::chaos {

/// A line of an audit log, as docs/audit.md describes it.
struct AuditRecord {
  enum class Kind { granted, released, lost, dropped, other };

  Kind kind = Kind::other;
  int process = 0;
  std::int64_t at = 0;        ///< microseconds of the system's clock
  std::int64_t sequence = 0;  ///< unique in its process; without gaps, but for what was dropped
  std::int64_t attempt = 0;
  std::int64_t session = 0;
  std::int64_t token = 0;
  std::int64_t dropped = 0;  ///< of the kind `dropped`: how many records are missing
  std::string node{};        ///< the path
  std::string cause{};       ///< of a loss
};

/// Nothing when the text is not a line of an audit log; the last line of a killed process may be incomplete.
[[nodiscard]] std::optional<AuditRecord> parse_audit(std::string_view line, int process);
[[nodiscard]] std::vector<AuditRecord> read_audit(const std::filesystem::path& path, int process);

}  // namespace zklock::chaos

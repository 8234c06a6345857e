// The audit log of what the program itself asks holders.
#pragma once

#include <zklock/audit/audit_log.hpp>

#include <memory>
#include <string>

namespace zklock::tools {

enum class AuditOutput { file, file_and_stdout };

/// Null if there is nothing to write to. Throws Failure if the file, which may be empty for none, cannot be opened.
[[nodiscard]] std::shared_ptr<AuditLog> open_audit(const std::string& file, AuditOutput output);

/// The user that runs the program.
[[nodiscard]] std::string user_name();

}  // namespace zklock::tools

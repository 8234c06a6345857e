// What a record of the audit log says to people.
#pragma once

#include "audit_record.hpp"

#include <cstdint>
#include <string>

namespace zklock::detail {

/// "granted mutex /locks/a after 3.1 ms". Not escaped.
[[nodiscard]] std::string message_of(const AuditRecord& record);

/// "0x1000a2b", as in ZooKeeper's logs.
[[nodiscard]] std::string session_text(std::int64_t session_id);

}  // namespace zklock::detail

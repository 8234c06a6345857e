// A user's program with the audit log, which zklock has installed.
#include <zklock/audit/audit_log.hpp>

int main(int, char** argv) {
  const zklock::AuditLog log{{.file = argv[1]}};
  return log.dropped() == 0 ? 0 : 1;
}

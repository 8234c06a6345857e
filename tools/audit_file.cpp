#include "audit_file.hpp"

#include "failure.hpp"

#include <spdlog/sinks/stdout_sinks.h>

#include <array>

#include <pwd.h>
#include <unistd.h>

namespace zklock::tools {

std::shared_ptr<AuditLog> open_audit(const std::string& file, AuditOutput output) {
  if (file.empty() && output == AuditOutput::file) return nullptr;
  AuditOptions options{.file = file, .service_name = "zklock"};
  if (output == AuditOutput::file_and_stdout)
    options.sinks.push_back(std::make_shared<spdlog::sinks::stdout_sink_st>());
  try {
    return std::make_shared<AuditLog>(std::move(options));
  } catch (const spdlog::spdlog_ex& error) {
    throw Failure{status::usage, "--audit " + file + ": " + error.what()};
  }
}

std::string user_name() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4'096> memory{};
  const uid_t id = ::getuid();
  if (::getpwuid_r(id, &entry, memory.data(), memory.size(), &found) == 0 && found != nullptr) return found->pw_name;
  return std::to_string(id);
}

}  // namespace zklock::tools

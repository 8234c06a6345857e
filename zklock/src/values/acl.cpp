#include <zklock/acl.hpp>

#include <string_view>

namespace zklock {

Acl open_acl() { return {{Permission::all, "world", "anyone"}}; }
Acl creator_all_acl() { return {{Permission::all, "auth", ""}}; }
Acl read_acl() { return {{Permission::read, "world", "anyone"}}; }

namespace {

std::string_view validate_entry(const AclEntry& entry) noexcept {
  const int permissions = static_cast<int>(entry.permissions);
  if (permissions == 0) return "an entry without a permission";
  if (permissions < 0 || permissions > static_cast<int>(Permission::all)) return "an unknown permission";
  if (entry.scheme.empty()) return "an entry without a scheme";
  if (entry.scheme.find('\0') != std::string::npos || entry.id.find('\0') != std::string::npos) return "a NUL";
  if (entry.scheme == "digest" && entry.id.find(':') == std::string::npos) return "a digest without a ':'";
  return {};
}

}  // namespace

std::string_view validate_acl(const Acl& acl) noexcept {
  if (acl.empty()) return "an empty ACL";
  for (const AclEntry& entry : acl)
    if (const auto flaw = validate_entry(entry); !flaw.empty()) return flaw;
  return {};
}

}  // namespace zklock

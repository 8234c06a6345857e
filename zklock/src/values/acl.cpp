#include <zklock/acl.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace zklock {

Acl open_acl() { return {{Permission::all, "world", "anyone"}}; }
Acl creator_all_acl() { return {{Permission::all, "auth", ""}}; }
Acl read_acl() { return {{Permission::read, "world", "anyone"}}; }

namespace {

/// "user:" and the base64 of the server's digest of "user:password". A plain password in its place would make a node
/// that nobody can use, list or delete.
std::string_view validate_digest(std::string_view id) noexcept {
  constexpr std::string_view base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::array<std::size_t, 4> sizes{28, 44, 64, 88};  // of SHA-1, SHA-256, SHA-384, SHA-512
  const auto colon = id.find(':');
  if (colon == std::string_view::npos) return "a digest without a ':'";
  const std::string_view digest = id.substr(colon + 1);
  const auto end = digest.find_first_not_of(base64);
  const auto padding = end == std::string_view::npos ? std::string_view{} : digest.substr(end);
  const bool is_padded = padding.empty() || padding == "=" || padding == "==";
  if (!is_padded || std::ranges::find(sizes, digest.size()) == sizes.end())
    return "a digest that is none: after the ':' stands base64(sha1(user:password)), of 28 characters";
  return {};
}

std::string_view validate_entry(const AclEntry& entry) noexcept {
  const int permissions = static_cast<int>(entry.permissions);
  if (permissions == 0) return "an entry without a permission";
  if (permissions < 0 || permissions > static_cast<int>(Permission::all)) return "an unknown permission";
  if (entry.scheme.empty()) return "an entry without a scheme";
  if (entry.scheme.find('\0') != std::string::npos || entry.id.find('\0') != std::string::npos) return "a NUL";
  if (entry.scheme == "digest") return validate_digest(entry.id);
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

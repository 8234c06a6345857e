#include "fake_acl.hpp"

#include <boost/uuid/detail/sha1.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace zklock::testing::fake {

namespace {

std::string base64(const std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t there = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (i < there ? bytes[at + i] : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= there ? digits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::vector<std::uint8_t> sha1(const std::string& text) {
  boost::uuids::detail::sha1 hash;
  hash.process_bytes(text.data(), text.size());
  unsigned int words[5];
  hash.get_digest(words);
  std::vector<std::uint8_t> bytes;
  for (const unsigned int word : words)
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(word >> shift));
  return bytes;
}

bool knows(std::string_view scheme) { return scheme == "digest" || scheme == "ip"; }

/// Exactly one ':', with text on both sides.
bool is_valid_digest(std::string_view id) {
  const auto colon = id.find(':');
  return colon != std::string_view::npos && colon > 0 && colon + 1 < id.size() &&
         id.find(':', colon + 1) == std::string_view::npos;
}

}  // namespace

std::optional<Identity> authenticate(const AuthInfo& credentials) {
  if (credentials.scheme != "digest") return std::nullopt;
  const std::string user = credentials.credential.substr(0, credentials.credential.find(':'));
  return Identity{"digest", user + ":" + base64(sha1(credentials.credential))};
}

bool may(const Identities& who, Permission any_of, const Acl& acl) {
  const auto grants = [&](const AclEntry& entry) {
    if (!(static_cast<int>(entry.permissions) & static_cast<int>(any_of))) return false;
    if (entry.scheme == "world") return entry.id == "anyone";
    return std::find(who.begin(), who.end(), Identity{entry.scheme, entry.id}) != who.end();
  };
  return acl.empty() || std::any_of(acl.begin(), acl.end(), grants);
}

std::optional<Acl> fix_up(const Acl& acl, const Identities& who) {
  Acl stored;
  const auto add = [&](AclEntry entry) {
    if (std::find(stored.begin(), stored.end(), entry) == stored.end()) stored.push_back(std::move(entry));
  };
  for (const AclEntry& entry : acl) {
    if (entry.scheme == "auth") {
      bool known = false;
      for (const Identity& each : who) {
        if (each.scheme != "digest") continue;  // an address does not identify a user
        known = true;
        add({entry.permissions, each.scheme, each.id});
      }
      if (!known) return std::nullopt;
    } else if (entry.scheme == "world" ? entry.id == "anyone"
                                       : knows(entry.scheme) && (entry.scheme == "ip" || is_valid_digest(entry.id))) {
      add(entry);
    } else {
      return std::nullopt;
    }
  }
  if (stored.empty()) return std::nullopt;
  return stored;
}

Acl masked(Acl acl) {
  for (AclEntry& entry : acl)
    if (entry.scheme == "digest") entry.id = entry.id.substr(0, entry.id.find(':')) + ":x";
  return acl;
}

}  // namespace zklock::testing::fake

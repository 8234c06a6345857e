// Access control, as the server decides it.
#pragma once

#include <zklock/acl.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zklock::testing::fake {

/// An identity, in the terms of a scheme.
struct Identity {
  std::string scheme;
  std::string id;
  friend bool operator==(const Identity&, const Identity&) = default;
};
using Identities = std::vector<Identity>;

/// The identity that the credentials prove; empty if the server refuses them.
[[nodiscard]] std::optional<Identity> authenticate(const AuthInfo& credentials);

/// True if one of these permissions is granted.
[[nodiscard]] bool may(const Identities& who, Permission any_of, const Acl& acl);

/// The ACL as it is stored: "auth" is replaced by the caller's identities. Empty if the ACL is invalid.
[[nodiscard]] std::optional<Acl> fix_up(const Acl& acl, const Identities& who);

/// The ACL as shown to a client that may read but not change it.
[[nodiscard]] Acl masked(Acl acl);

}  // namespace zklock::testing::fake

// Who may do what, as the server decides it.
#pragma once

#include <zklock/acl.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zklock::testing::fake {

/// Who somebody is, in the terms of a scheme.
struct Identity {
  std::string scheme;
  std::string id;
  friend bool operator==(const Identity&, const Identity&) = default;
};
using Identities = std::vector<Identity>;

/// Whom the credentials make of their bearer; nobody if the server refuses them.
[[nodiscard]] std::optional<Identity> authenticate(const AuthInfo& credentials);

/// One of these permissions is enough.
[[nodiscard]] bool may(const Identities& who, Permission any_of, const Acl& acl);

/// The ACL as it is stored, "auth" replaced by who asks; nothing if it is invalid.
[[nodiscard]] std::optional<Acl> fix_up(const Acl& acl, const Identities& who);

/// What those are shown who may read the ACL but not change it.
[[nodiscard]] Acl masked(Acl acl);

}  // namespace zklock::testing::fake

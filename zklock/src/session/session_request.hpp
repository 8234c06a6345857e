// Converts a caller's request to the server's: chroot and namespace, ACLs.
#pragma once

#include "session_core.hpp"

namespace zklock::detail {

/// Converts a path of the server to the caller's.
[[nodiscard]] std::string from_server(const SessionHandle& session, const std::string& path);

/// The ACL of a new node. Empty if the client's provider throws; an empty ACL is refused later.
[[nodiscard]] Acl choose_acl(const SessionHandle& session, std::optional<Acl> wanted, const std::string& path,
                             CreateMode mode) noexcept;

/// The server's path of a new node. A sequential node of "/" is a child of the prefix: "/app/" plus digits, not "/app"
/// plus digits.
[[nodiscard]] std::string path_to_create(const SessionHandle& session, const std::string& path, CreateMode mode);

/// Converts the request to the server's form, if it has no flaw.
[[nodiscard]] error_code complete_request(const SessionHandle& session, Request& request);

}  // namespace zklock::detail

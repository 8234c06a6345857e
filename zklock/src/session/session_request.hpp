// From a caller's request to the server's: chroot and namespace, ACLs.
#pragma once

#include "session_core.hpp"

namespace zklock::detail {

/// The server's path as the caller knows it.
[[nodiscard]] std::string from_server(const SessionHandle& session, const std::string& path);

/// The ACL of a new node. An empty one, which is refused later, if the client's provider throws.
[[nodiscard]] Acl choose_acl(const SessionHandle& session, std::optional<Acl> wanted, const std::string& path,
                             CreateMode mode) noexcept;

/// The server's path of a new node: "/" with digits behind it is a child of the root, not a brother.
[[nodiscard]] std::string path_to_create(const SessionHandle& session, const std::string& path, CreateMode mode);

/// Makes the request what the server is to see, if nothing is wrong with it.
[[nodiscard]] error_code complete_request(const SessionHandle& session, Request& request);

}  // namespace zklock::detail

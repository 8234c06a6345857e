// Who may do what with a node.
#pragma once

#include <zklock/error.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zklock {

/// ZooKeeper's permissions, to be combined with '|'.
enum class Permission : int {
  read = 1,    ///< its data and its list of children
  write = 2,   ///< its data
  create = 4,  ///< children
  remove = 8,  ///< children
  admin = 16,  ///< the ACL
  all = 31
};

[[nodiscard]] constexpr Permission operator|(Permission a, Permission b) noexcept {
  return static_cast<Permission>(static_cast<int>(a) | static_cast<int>(b));
}

/// One line of an ACL: whoever is `id` in the terms of `scheme` has these permissions. "world" knows "anyone"; "auth"
/// means whoever creates the node and takes no id; "digest" takes "user:base64(sha1(user:password))"; "ip" an address.
struct AclEntry {
  Permission permissions = Permission::all;
  std::string scheme;
  std::string id;

  AclEntry() = default;
  AclEntry(Permission may, std::string with_scheme, std::string with_id)
      : permissions{may}, scheme{std::move(with_scheme)}, id{std::move(with_id)} {}
  friend bool operator==(const AclEntry&, const AclEntry&) = default;
};

using Acl = std::vector<AclEntry>;

/// Everybody may do everything: ZooKeeper's OPEN_ACL_UNSAFE.
[[nodiscard]] Acl open_acl();
/// Whoever creates the node may do everything with it, and nobody else anything: CREATOR_ALL_ACL. The client must have
/// authenticated itself (ClientConfig::auth), or creating fails with Error::invalid_acl.
[[nodiscard]] Acl creator_all_acl();
/// Everybody may read: READ_ACL_UNSAFE.
[[nodiscard]] Acl read_acl();

/// Why a server would refuse the ACL, or misunderstand it: empty, no permission or an unknown one, no scheme, a digest
/// without a ':'. Empty when nothing is wrong.
[[nodiscard]] std::string_view find_acl_flaw(const Acl& acl) noexcept;

/// Who may do what with a node that is created without an ACL of its own: called with the node's full path at the
/// server, chroot and namespace included, on the thread that creates it. If it throws, the create fails with
/// Error::invalid_acl. Curator's ACLProvider.
using AclProvider = std::function<Acl(const std::string& path)>;

/// Credentials: "digest" and "user:password", for example.
struct AuthInfo {
  std::string scheme;
  std::string credential;
};

}  // namespace zklock

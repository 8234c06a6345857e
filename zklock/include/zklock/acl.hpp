// Access control lists of nodes.
#pragma once

#include <zklock/error.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zklock {

/// ZooKeeper's permissions; combine them with '|'.
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

/// An entry of an ACL: these permissions for the identity `id` of `scheme`. "world" has the id "anyone"; "auth" means
/// the creator of the node and takes no id; "digest" takes "user:base64(sha1(user:password))"; "ip" takes an address.
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
/// The creator of the node may do everything, other clients nothing: CREATOR_ALL_ACL. The client must have credentials
/// (ClientConfig::auth), or the create fails with Error::invalid_acl.
[[nodiscard]] Acl creator_all_acl();
/// Everybody may read: READ_ACL_UNSAFE.
[[nodiscard]] Acl read_acl();

/// The reason for which a server would refuse or misunderstand the ACL: an empty ACL, no permission or an unknown one,
/// no scheme, a digest without a ':'. Empty when there is none.
[[nodiscard]] std::string_view validate_acl(const Acl& acl) noexcept;

/// Gives the ACL of a node that is created without one of its own. It is called with the node's full path at the
/// server, chroot and namespace included, on the thread that creates the node. If it throws, the create fails with
/// Error::invalid_acl. Curator's ACLProvider.
using AclProvider = std::function<Acl(const std::string& path)>;

/// Credentials: "digest" and "user:password", for example.
struct AuthInfo {
  std::string scheme;
  std::string credential;
};

}  // namespace zklock

// Membership in a group.
#pragma once

#include <zklock/recipes/nodes/group.hpp>
#include <zklock/recipes/nodes/persistent_node.hpp>

#include <optional>
#include <string>

namespace zklock {

struct GroupMemberOptions {
  /// What happens if another client has joined under the same id. A process that was started anew is another client,
  /// until the servers have ended the session of the process before it.
  NodeConflict conflict = NodeConflict::wait;
};

/// Joins a group, and follows its members. The object keeps the node `<path>/<id>`, ephemeral, with the payload as its
/// data (set_data() changes it); closing or destroying the object leaves the group. Curator's GroupMember; both work
/// together in one group.
///
/// A client that is cut off is not shown as a member for ever: what members() tells is what the servers have, and
/// own() tells of the client's own node only while that is there.
///
/// Threads: any thread may call anything but the destructor and the assignment.
class GroupMember : public detail::KeptNode {
 public:
  /// Begins to join. Throws boost::system::system_error: Error::invalid_path, also for an id that is not one component
  /// of a path. Curator's default for the payload is the host's address; here it is empty.
  GroupMember(const ClientHandle& client, std::string path, std::string id, std::string payload = {},
              GroupMemberOptions options = {});
  /// A temporary Client would be closed at once.
  template <class... Rest>
  GroupMember(Client&&, Rest&&...) = delete;

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  /// The client's own entry among the members; empty while the node is not there, is another client's, or the link is
  /// lost.
  [[nodiscard]] std::optional<Member> own() const;
  /// The group's members, this one among them: see Group.
  [[nodiscard]] const Group& group() const noexcept { return group_; }
  [[nodiscard]] GroupMembers members() const { return group_.members(); }

 private:
  std::string id_;
  Group group_;
};

}  // namespace zklock

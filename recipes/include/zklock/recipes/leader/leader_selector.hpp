// A leader election with Curator's LeaderSelector, or with Kazoo's Election.
#pragma once

#include <zklock/recipes/leader/leader_election.hpp>
#include <zklock/recipes/locks/lock_kind.hpp>

#include <string>

namespace zklock {

/// Curator's LeaderSelector, on the same path as Curator's; with Kazoo's names its Election. Its nodes are those of an
/// InterProcessMutex, with the bare id as data: a mutex on the path and the leader exclude each other. Use no
/// LeaderLatch there. `lead_while` is what a LeaderSelectorListener is for.
class LeaderSelector : public LeaderElection {
 public:
  /// `path` is the election's directory; it is created when it is first needed, as containers, or as persistent nodes
  /// under Kazoo's names. The id is the client's. Throws boost::system::system_error: LockError::invalid_lock_path.
  LeaderSelector(const ClientHandle& client, const std::string& path, LockNaming naming = LockNaming::curator);
  /// The same with an id, which other programs see; it may be empty.
  LeaderSelector(const ClientHandle& client, const std::string& path, std::string id,
                 LockNaming naming = LockNaming::curator);
  /// A temporary Client would be closed at once.
  template <class... Rest>
  LeaderSelector(Client&&, Rest&&...) = delete;
};

}  // namespace zklock

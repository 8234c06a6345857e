// A leader election with Curator's LeaderLatch.
#pragma once

#include <zklock/recipes/leader/leader_election.hpp>

#include <optional>
#include <string>

namespace zklock {

/// The highest LatchOptions::priority.
inline constexpr int max_latch_priority = 999;

struct LatchOptions {
  /// A candidate whose turn has come looks at those behind it, and goes to the end of the queue if one of them has a
  /// higher priority. 0 to max_latch_priority. std::nullopt: it does not look; others take it for the lowest, as they
  /// do Curator's candidates.
  std::optional<int> priority{};
};

/// Curator's LeaderLatch, on the same path as Curator's. Use no LeaderSelector and no mutex on that path.
///
/// The data of a latch's node are never written after its create: Curator's candidate behind it, which watches the
/// data, would not look again.
class LeaderLatch : public LeaderElection {
 public:
  /// `path` is the latch's directory; it is created, as container nodes, when it is first needed. The id is the
  /// client's. Throws boost::system::system_error: LockError::invalid_lock_path; Error::bad_arguments (the priority).
  LeaderLatch(const ClientHandle& client, const std::string& path, LatchOptions options = {});
  /// The same with an id, which other programs see; it may be empty.
  LeaderLatch(const ClientHandle& client, const std::string& path, std::string id, LatchOptions options = {});
  /// A temporary Client would be closed at once.
  template <class... Rest>
  LeaderLatch(Client&&, Rest&&...) = delete;
};

}  // namespace zklock

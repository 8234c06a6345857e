// Nodes that a leader makes after their clients have been told that they do not exist.
#pragma once

#include <zklock/recipe_kit/protected_path.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zklock {

/// The attempts of one client on one path whose first create may still be carried out, though the server has shown that
/// it was not, and the node was requested again: a leader of 3.8.0 may do that late [F16b].
///
/// Threads: the client's executor.
class LateNodes {
 public:
  /// The attempt has given its node up or back: what has its name from now on is a late node.
  void expect(const Session& session, std::shared_ptr<const ProtectedPath> attempt);
  /// Deletes those that a list of the directory shows.
  void on_listed(const Session& session, const std::vector<std::string>& children) const;

 private:
  static constexpr std::size_t max_expected = 64;

  std::int64_t session_ = 0;  // they are deleted with it
  std::vector<std::shared_ptr<const ProtectedPath>> expected_;
};

/// Looks for nodes of that name, and deletes them, in the background.
void remove_late_node(const Session& session, const ProtectedPath& attempt);

}  // namespace zklock

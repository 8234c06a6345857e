// Mutual exclusion as a simulation can check it: by the ensemble's own state.
#pragma once

#include <zklock/testing/simulation.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace zklock::test {

/// Is told of each grant and each release of one exclusive lock. It fails the simulation when a lock is granted that
/// another contender holds, or that belongs to another contender by the order of the nodes.
///
/// A client whose session the ensemble has ended holds nothing, whatever the client still believes: no lock service can
/// do better (N1 of docs/guarantees.md), and fencing tokens are for that. Nor does a client hold a lock whose node an
/// operator has deleted.
class LockWatch {
 public:
  LockWatch(testing::Simulation& simulation, std::string directory)
      : simulation_{simulation}, directory_{std::move(directory)} {}

  /// `may_share_token`: with the holder before, by the same node, as a lock that is kept silently does.
  void granted(const std::string& who, const std::string& node, std::int64_t token, bool may_share_token = false) {
    const auto nodes = simulation_.ensemble().nodes();
    const auto own = std::find_if(nodes.begin(), nodes.end(), [&](const auto& each) { return each.path == node; });
    if (own == nodes.end()) {  // the session has ended, or an operator has deleted it, and the client is yet to hear
      holders_.push_back({who, node, 0});
      return;
    }
    const bool is_shared = may_share_token && token == last_token_ && node == last_node_;
    if (token <= last_token_ && !is_shared)
      simulation_.fail(who + " is granted the lock with a token that is not the newest");
    last_token_ = std::max(last_token_, token);
    last_node_ = node;
    const std::int64_t session = own->stat.ephemeral_owner;
    for (const Holder& other : holders_)
      if (simulation_.ensemble().is_alive(other.session) && !simulation_.was_deleted_by_operator(other.node))
        simulation_.fail(who + " is granted the lock that " + other.who + " holds");
    for (const auto& other : nodes)  // a node of the same session belongs to a contender that has just released
      if (other.path.starts_with(directory_ + "/") && other.stat.czxid < token && other.stat.ephemeral_owner != 0 &&
          other.stat.ephemeral_owner != session)
        simulation_.fail(who + " is granted the lock ahead of " + other.path);
    holders_.push_back({who, node, session});
    ++grants_;
  }
  void released(const std::string& who) {
    std::erase_if(holders_, [&](const Holder& each) { return each.who == who; });
  }
  [[nodiscard]] int grants() const noexcept { return grants_; }

 private:
  struct Holder {
    std::string who;
    std::string node;
    std::int64_t session;  ///< 0: its node was gone when it was granted
  };

  testing::Simulation& simulation_;
  std::string directory_;
  std::vector<Holder> holders_;
  std::int64_t last_token_ = 0;
  std::string last_node_;
  int grants_ = 0;
};

}  // namespace zklock::test

// Readers that share, and writers that exclude, as a simulation can check it: by the ensemble's own state.
#pragma once

#include <zklock/recipes/locks/lease.hpp>
#include <zklock/recipes/locks/lock_kind.hpp>
#include <zklock/testing/simulation.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace zklock::test {

/// Fails the simulation when a lock is granted beside a holder that blocks it, by the ensemble's own state (as
/// LockWatch).
class ReadWriteWatch {
 public:
  explicit ReadWriteWatch(testing::Simulation& simulation) : simulation_{simulation} {}

  void granted(const std::string& who, LockKind kind, const Lease& lease) {
    const auto nodes = simulation_.ensemble().nodes();
    const auto own = std::ranges::find_if(nodes, [&](const auto& each) { return each.path == lease.node_path(); });
    if (own == nodes.end()) return;  // the session has ended, and its client is yet to hear of it
    for (const Holder& other : holders_) {
      if (other.who == who || (other.kind == LockKind::read && kind == LockKind::read)) continue;
      if (simulation_.ensemble().is_alive(other.session) && !simulation_.was_deleted_by_operator(other.node))
        simulation_.fail(who + " is granted the lock that " + other.who + " holds");
    }
    holders_.push_back({who, kind, own->path, own->stat.ephemeral_owner});
  }
  void released(const std::string& who, LockKind kind) {
    std::erase_if(holders_, [&](const Holder& each) { return each.who == who && each.kind == kind; });
  }

 private:
  struct Holder {
    std::string who;
    LockKind kind;
    std::string node;
    std::int64_t session;
  };

  testing::Simulation& simulation_;
  std::vector<Holder> holders_;
};

}  // namespace zklock::test

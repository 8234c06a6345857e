// Mutual exclusion, as a simulation can see it: by the ensemble's own truth.
#pragma once

#include <zklock/testing/simulation.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace zklock::test {

/// Told of each grant and each release of one exclusive lock, it fails the simulation when a lock is granted that
/// somebody else holds, or that is somebody else's by the order of the nodes.
///
/// Whose session the ensemble has ended holds nothing, whatever they believe yet: no lock service can do better (N1 of
/// docs/guarantees.md), and fencing tokens are for that.
class LockWatch {
 public:
  LockWatch(testing::Simulation& simulation, std::string directory)
      : simulation_{simulation}, directory_{std::move(directory)} {}

  void granted(const std::string& who, const std::string& node, std::int64_t token) {
    const auto nodes = simulation_.ensemble().nodes();
    const auto own = std::find_if(nodes.begin(), nodes.end(), [&](const auto& each) { return each.path == node; });
    if (own == nodes.end()) return;  // the session has ended, and the news are on their way
    if (token <= last_token_) simulation_.fail(who + " is granted the lock with a token that is not the newest");
    last_token_ = std::max(last_token_, token);
    const std::int64_t session = own->stat.ephemeral_owner;
    for (const Holder& other : holders_)
      if (simulation_.ensemble().is_alive(other.session))
        simulation_.fail(who + " is granted the lock that " + other.who + " holds");
    for (const auto& other : nodes)  // a node of its own session is that of one who has just released
      if (other.path.starts_with(directory_ + "/") && other.stat.czxid < token && other.stat.ephemeral_owner != 0 &&
          other.stat.ephemeral_owner != session)
        simulation_.fail(who + " is granted the lock ahead of " + other.path);
    holders_.push_back({who, session});
    ++grants_;
  }
  void released(const std::string& who) {
    std::erase_if(holders_, [&](const Holder& each) { return each.who == who; });
  }
  [[nodiscard]] int grants() const noexcept { return grants_; }

 private:
  struct Holder {
    std::string who;
    std::int64_t session;
  };

  testing::Simulation& simulation_;
  std::string directory_;
  std::vector<Holder> holders_;
  std::int64_t last_token_ = 0;
  int grants_ = 0;
};

}  // namespace zklock::test

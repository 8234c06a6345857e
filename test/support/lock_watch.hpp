// Mutual exclusion, as a simulation can see it: by the ensemble's own truth.
#pragma once

#include <zklock/testing/simulation.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace zklock::test {

/// Told of each grant and each release of one exclusive lock, it fails the simulation when a lock is granted that
/// somebody else holds, or that is somebody else's by the order of the nodes.
///
/// Whose session the ensemble has ended holds nothing, whatever they believe yet: no lock service can do better (N1 of
/// docs/guarantees.md), and fencing tokens are for that. Nor does one whose node an operator has deleted; and where the
/// directory has gone with it, who is handed the lock by a sibling that lost it so learns a moment later that it is
/// somebody else's (what does not hold, 10). That is as narrow as it is simple: handed on by the last of its session
/// that has given the lock back, as far as the watch can see.
class LockWatch {
 public:
  LockWatch(testing::Simulation& simulation, std::string directory)
      : simulation_{simulation}, directory_{std::move(directory)} {}

  void granted(const std::string& who, const std::string& node, std::int64_t token) {
    const auto nodes = simulation_.ensemble().nodes();
    const auto own = std::find_if(nodes.begin(), nodes.end(), [&](const auto& each) { return each.path == node; });
    if (own == nodes.end()) {  // the session has ended, or an operator has deleted it, and the news are on their way
      holders_.push_back({who, node, 0});
      return;
    }
    if (token <= last_token_) simulation_.fail(who + " is granted the lock with a token that is not the newest");
    last_token_ = std::max(last_token_, token);
    const std::int64_t session = own->stat.ephemeral_owner;
    const bool misled = may_be_misled(session);
    for (const Holder& other : holders_)
      if (!misled && !other.misled && simulation_.ensemble().is_alive(other.session) &&
          !simulation_.was_deleted_by_operator(other.node))
        simulation_.fail(who + " is granted the lock that " + other.who + " holds");
    for (const auto& other : nodes)  // a node of its own session is that of one who has just released
      if (!misled && other.path.starts_with(directory_ + "/") && other.stat.czxid < token &&
          other.stat.ephemeral_owner != 0 && other.stat.ephemeral_owner != session)
        simulation_.fail(who + " is granted the lock ahead of " + other.path);
    holders_.push_back({who, node, session, misled});
    ++grants_;
  }
  void released(const std::string& who) {
    std::erase_if(holders_, [&](const Holder& each) {
      if (each.who == who) gone_[each.session] = each;
      return each.who == who;
    });
  }
  [[nodiscard]] int grants() const noexcept { return grants_; }

 private:
  struct Holder {
    std::string who;
    std::string node;
    std::int64_t session;  ///< 0: its node was gone when it was granted
    bool misled = false;
  };

  [[nodiscard]] bool may_be_misled(std::int64_t session) const {
    if (!simulation_.was_made_anew(directory_)) return false;
    return std::ranges::any_of(std::array{session, std::int64_t{0}}, [&](std::int64_t each) {
      const auto last = gone_.find(each);
      return last != gone_.end() && (last->second.misled || simulation_.was_deleted_by_operator(last->second.node));
    });
  }

  testing::Simulation& simulation_;
  std::string directory_;
  std::vector<Holder> holders_;
  std::map<std::int64_t, Holder> gone_;  // of each session the last that gave the lock back
  std::int64_t last_token_ = 0;
  int grants_ = 0;
};

}  // namespace zklock::test

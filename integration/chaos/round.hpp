// All that a follower keeps and follows, from its construction to its close.
#pragma once

#include "follower.hpp"
#include "support/await.hpp"

#include <zklock/recipes/caches/curator_cache.hpp>
#include <zklock/recipes/leader/leader.hpp>
#include <zklock/recipes/nodes/group_member.hpp>
#include <zklock/recipes/nodes/persistent_node.hpp>
#include <zklock/recipes/shared/shared_count.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zklock::chaos {

/// Threads: one.
class Round {
 public:
  Round(const Client& client, const Log& log, const FollowerOptions& options);

  /// Waits for a moment, and notes what is new.
  void look();
  /// Gives the node other data.
  void write();
  /// Waits until the nodes are there and the tree has its last state, and notes it.
  void note_end();
  /// Gives all up, and waits until the nodes are gone.
  void close();

 private:
  struct Kept {
    const detail::KeptNode& node;
    Record last{};
    Clock::time_point noted{};
    test::Pending<> closing{};
  };
  struct Count {
    std::string path;
    FollowStream<ValueChange<std::int32_t>> values;
  };
  struct Election {
    std::string path;
    LeaderStream leaders;
  };

  void begin(const std::string& path) const { note({.event = Event::follows, .lock = path}); }
  void note(Record record) const;
  void note_event(const CacheEvent& event);
  void note_change(const std::string& path, const ValueChange<std::int32_t>& change) const;
  void claim(Kept& kept);
  void show_group();
  void follow_events();

  const Client& client_;
  const Log& log_;
  FollowerOptions options_;
  PersistentNode node_;
  GroupMember member_;
  std::vector<Kept> kept_;
  std::optional<CuratorCache> cache_;
  std::optional<CacheEvents> events_;
  std::vector<Count> counts_{};
  std::vector<Election> elections_{};
  std::string shown_{};
  std::int64_t wishes_ = 0;
  std::optional<test::Pending<>> written_{};
  bool is_stale_ = false;                   // by the last event
  std::int64_t without_link_at_ = 0;        // a time at which the next connection was not made yet
  std::int64_t group_without_link_at_ = 0;  // the same of the group, which may be live at another time
};

}  // namespace zklock::chaos

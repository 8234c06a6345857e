// What a process of the campaign keeps and follows beside the locks.
#pragma once

#include "record.hpp"

#include <zklock/client.hpp>

#include <atomic>
#include <cstdint>
#include <random>
#include <thread>

namespace zklock::chaos {

struct FollowerOptions {
  int process = 0;
  int slot = 0;  ///< it names the nodes: a process in the place of another wants the same
  std::uint64_t seed = 0;
};

/// Keeps a node and a membership, follows the group, a tree and the counts, and notes what it is shown; all of it anew
/// every ten to thirty seconds.
///
/// Threads: its own.
class Follower {
 public:
  Follower(const Client& client, const Log& log, FollowerOptions options);
  ~Follower() { end(); }
  Follower(const Follower&) = delete;

  /// Notes the last state of all, and gives all up.
  void end();

 private:
  void run();

  const Client& client_;
  const Log& log_;
  FollowerOptions options_;
  std::mt19937_64 random_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace zklock::chaos

// Changes of what the processes of the campaign follow.
#pragma once

#include "record.hpp"

#include <zklock/client.hpp>
#include <zklock/recipes/shared/shared_count.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace zklock::chaos {

struct ChangesOptions {
  int process = 0;
  std::uint64_t seed = 0;
};

/// Adds to counts, changes nodes of the tree, and deletes nodes that processes keep, one after the other: few enough that
/// the lock users hardly notice. Notes what it adds.
///
/// Threads: its own, until it is destroyed.
class Changes {
 public:
  Changes(const Client& client, const Log& log, ChangesOptions options);
  ~Changes();
  Changes(const Changes&) = delete;

 private:
  void run();
  /// True: it is over.
  bool wait(std::chrono::milliseconds length);
  void add_to_count();
  void change_tree();
  void delete_kept_node();
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  const Client& client_;
  const Log& log_;
  ChangesOptions options_;
  std::mt19937_64 random_;
  std::vector<SharedCount> counts_{};
  std::int64_t operations_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace zklock::chaos

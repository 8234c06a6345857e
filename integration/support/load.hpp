// Work that goes on while servers come and go.
#pragma once

#include "fixture.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace zklock::test {

/// Workers, each with a client and a thread of its own, that count together: under one lock, each reads a number from a
/// node and writes the next one. A write whose outcome is ambiguous is looked for before it is tried again, so the
/// number must be the count of what was done, whatever happens to the servers.
class Load {
 public:
  Load(const std::string& connect_string, std::chrono::milliseconds timeout, std::size_t workers);
  ~Load();
  Load(const Load&) = delete;

  /// Waits until every worker has counted further. False: one has failed, or they are stuck.
  [[nodiscard]] bool goes_on();
  /// Lets each worker finish its turn.
  void stop();

  /// What went wrong: an operation that did not end, or failed with what no server's death explains; two holders; a
  /// session lost. Empty: nothing.
  [[nodiscard]] std::string failure() const;
  /// Turns that were finished.
  [[nodiscard]] int counted() const;
  /// The number in the node, after stop().
  [[nodiscard]] int written() const;
  [[nodiscard]] bool leaves_no_trace() const;
  /// The longest time that a turn took.
  [[nodiscard]] std::chrono::milliseconds longest() const;

 private:
  struct Worker;

  std::atomic<bool> stopping_{false};
  std::atomic<int> inside_{0};
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace zklock::test

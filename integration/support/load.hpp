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

/// Workers, each with a client and a thread of its own, that count together. Under one lock, each reads a number from a
/// node and writes the next one. A worker looks for a write with an ambiguous outcome before it tries again, so the
/// number must be the count of finished writes, whatever happens to the servers.
class Load {
 public:
  Load(const std::string& connect_string, std::chrono::milliseconds timeout, std::size_t workers);
  ~Load();
  Load(const Load&) = delete;

  /// Waits until every worker has counted further. False: a worker has failed, or the workers are stuck.
  [[nodiscard]] bool goes_on();
  /// Lets each worker finish its turn.
  void stop();

  /// What went wrong: an operation that did not end, or failed with an error that no server's end explains; two
  /// holders; a session lost. Empty: nothing.
  [[nodiscard]] std::string failure() const;
  /// The turns that were finished.
  [[nodiscard]] int counted() const;
  /// The number in the node, after stop().
  [[nodiscard]] int written() const;
  [[nodiscard]] bool leaves_no_trace() const;

 private:
  struct Worker;

  std::atomic<bool> stopping_{false};
  std::atomic<int> inside_{0};
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace zklock::test

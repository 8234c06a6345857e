// Those that wait for the watches of one node.
#pragma once

#include "driver.hpp"

#include <array>
#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace zklock {

constexpr std::size_t index_of(WatchKind kind) noexcept { return static_cast<std::size_t>(kind); }

/// The sinks, in the order in which they began to wait. Mostly there is one; tens of thousands may come and go.
class WatchWaiters {
 public:
  using Sink = std::shared_ptr<WatchSink>;

  void add(Sink sink, WatchKind kind);
  void remove(const WatchSink& sink, WatchKind kind);
  [[nodiscard]] bool has_any(WatchKind kind) const;
  /// Those that waited for this kind, and do no longer.
  [[nodiscard]] std::vector<Sink> take(WatchKind kind);

 private:
  struct Waiter {
    Sink sink{};
    std::array<bool, 2> waits{};  // for the data, for the children
    [[nodiscard]] bool is_done() const noexcept { return !waits[0] && !waits[1]; }
  };
  struct Crowd {
    std::list<Waiter> all{};
    std::unordered_map<const WatchSink*, std::list<Waiter>::iterator> places{};
    std::array<std::size_t, 2> waiting{};
  };

  Waiter& crowded(Sink sink);

  Waiter only_{};                   // unless there is a crowd
  std::unique_ptr<Crowd> crowd_{};  // once there were two
};

}  // namespace zklock

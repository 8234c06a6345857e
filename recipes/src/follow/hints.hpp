// What tells Follow that something which it has read may have changed.
#pragma once

#include "item.hpp"

#include <zklock/watch.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace zklock {

/// An event is a hint, never an answer. One-shot watches are the only source that the C client has; others may follow.
///
/// Threads: the serial executor.
class Hints {
 public:
  using Event = std::function<void(const Item&, WatchEventType)>;

  Hints() = default;
  Hints(const Hints&) = delete;
  virtual ~Hints() = default;

  /// A read of the item has succeeded, with this watch: the next change will be told. It replaces an earlier one.
  virtual void armed(const Item& item, Watch watch) = 0;
  virtual void forget(const Item& item) = 0;
  virtual void forget_all() = 0;

  /// Called outside of the calls above.
  Event event;
};

/// Hints by the watches of the reads. A watch survives lost links, which costs one packet for all of them; after its
/// event it is spent.
[[nodiscard]] std::shared_ptr<Hints> one_shot_hints();

}  // namespace zklock

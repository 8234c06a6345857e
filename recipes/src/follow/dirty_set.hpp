// Which items must be read, and in which order.
#pragma once

#include "item.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zklock {

/// An item is dirty from the event that tells of a change until a read with a watch has succeeded: the event has spent
/// the watch, so that a failed read must not be forgotten [ZOOKEEPER-1950]. Pure: no requests, no time.
///
/// Some reads are owed: the followed nodes are known as of one moment once none of those is left that were due at that
/// moment. What is read because of an owed read is owed, too.
///
/// Threads: one at a time.
class DirtySet {
 public:
  /// Late items are read for the first time when no other one is dirty.
  enum class Urgency : std::uint8_t { soon, late };
  enum class Duty : std::uint8_t { none, owed };
  using Ticket = std::uint64_t;

  struct Read {
    Item item;
    Ticket ticket = 0;  ///< for answered()
    friend bool operator==(const Read&, const Read&) = default;
  };

  /// Adds an item, dirty. Does nothing if there is one already.
  void add(const Item& item, Urgency urgency, Duty duty);
  void drop(const Item& item);
  /// Drops all.
  void clear();

  /// An event has told of a change. A read under way will show it: replies and events come in the server's order.
  void mark(const Item& item);
  /// The node was deleted: whether there is another one, its parent's list will say.
  void hold(const Item& item);
  /// That list names it again.
  void release(const Item& item);
  /// All items are dirty: a new session has no watches. Replies to earlier reads do not count any more.
  void mark_all();

  /// Begins reads, so that at most `limit` are under way.
  [[nodiscard]] std::vector<Read> take(std::size_t limit);
  enum class Answer { read, failed };
  /// The read has ended; a failed one is dirty again. Returns the duty of the read, for what is read because of it.
  /// False: the reply counts for nothing.
  [[nodiscard]] std::pair<bool, Duty> answered(const Read& read, Answer answer);

  /// Whatever is dirty, being read or held is owed from now on.
  void owe_unfinished();
  [[nodiscard]] std::size_t owed(Urgency urgency) const noexcept { return owed_[static_cast<std::size_t>(urgency)]; }
  [[nodiscard]] bool is_clean(const Item& item) const;
  [[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }
  [[nodiscard]] bool has_dirty() const noexcept { return !queues_[0].empty() || !queues_[1].empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }

 private:
  enum class State : std::uint8_t { clean, dirty, reading, held };
  struct Entry {
    State state = State::clean;
    Urgency urgency = Urgency::soon;
    Duty duty = Duty::none;
    std::uint64_t number = 0;  // its place in the queue when dirty; its ticket when being read
  };
  using Entries = std::unordered_map<Item, Entry, ItemHash>;

  void enqueue(Entries::value_type& entry);
  void leave(Entry& entry, State next);
  void set_duty(Entry& entry, Duty duty);
  [[nodiscard]] auto& queue(Urgency urgency) { return queues_[static_cast<std::size_t>(urgency)]; }

  Entries items_;
  std::map<std::uint64_t, Entries::value_type*> queues_[2];  // by the order in which they became dirty
  std::size_t owed_[2] = {0, 0};
  std::size_t under_way_ = 0;
  std::uint64_t last_number_ = 0;
};

}  // namespace zklock

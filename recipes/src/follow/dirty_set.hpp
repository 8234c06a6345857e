// Which items must be read, and in which order.
#pragma once

#include "item.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
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
  [[nodiscard]] bool contains(const Item& item) { return find(item).node != nullptr; }
  [[nodiscard]] bool is_clean(const Item& item);
  [[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }
  [[nodiscard]] bool has_dirty() const noexcept { return !queues_[0].empty() || !queues_[1].empty(); }
  [[nodiscard]] std::vector<Item> items();

 private:
  enum class State : std::uint8_t { absent, clean, dirty, reading, held };
  struct Entry {             // small: there may be a hundred thousand
    Ticket number : 56 = 0;  // its place in the queue when dirty; its ticket when being read
    State state : 4 = State::absent;
    Urgency urgency : 2 = Urgency::soon;
    Duty duty : 2 = Duty::none;
  };
  struct PathHash {
    std::size_t operator()(const std::string& path) const noexcept { return std::hash<std::string>{}(path); }
  };
  /// Both items of a path share it. No hash is kept, since PathHash is noexcept.
  using Nodes = std::unordered_map<std::string, std::array<Entry, 2>, PathHash>;
  struct Place {
    Nodes::value_type* node = nullptr;
    WatchKind kind = WatchKind::data;
  };

  static Entry& entry_of(const Place& place) { return place.node->second[static_cast<std::size_t>(place.kind)]; }
  static Item item_of(const Place& place) { return {place.kind, place.node->first}; }
  [[nodiscard]] Place find(const Item& item);
  template <class Action>
  void each(Action action);
  void number(Entry& entry) noexcept { entry.number = ++last_number_ & ((Ticket{1} << 56) - 1); }
  void enqueue(const Place& place);
  void leave(Entry& entry, State next);
  void set_duty(Entry& entry, Duty duty);
  [[nodiscard]] auto& queue(Urgency urgency) { return queues_[static_cast<std::size_t>(urgency)]; }

  Nodes nodes_;
  std::map<Ticket, Place> queues_[2];  // by the order in which they became dirty
  std::size_t owed_[2] = {0, 0};
  std::size_t under_way_ = 0;
  Ticket last_number_ = 0;
};

}  // namespace zklock

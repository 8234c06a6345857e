// The watches of one session, and the sinks that wait for them.
#pragma once

#include "watch_waiters.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace zklock {

/// One watch for each place, whatever the number of its sinks. The C client has one watcher for it, so the last sink to
/// leave can remove the watch without taking it from another. Since there may be a hundred thousand nodes, both watches
/// of a node share an entry with its path, and a sink may wait at many places.
class WatchTable {
 public:
  using Sink = WatchWaiters::Sink;
  class Read;

  /// The C client sets all watches again in one packet at each reconnect; a packet that is too large would be refused
  /// each time [F101]. The paths of the watches may have `max_bytes`.
  explicit WatchTable(std::size_t max_bytes) : max_bytes_{max_bytes} {}

  [[nodiscard]] bool has_room_for(const WatchPlace& place);
  /// To be called before a read that sets the watch is sent.
  [[nodiscard]] Read begin(WatchPlace place);
  /// To be called once, when the read's reply has come. `is_set`: the server has set the watch; `sink` then waits for it,
  /// unless it is null. True: no sink and no read is left at the place, and end() is due.
  [[nodiscard]] bool finish(const Read& read, bool is_set, Sink sink);
  /// The sink waits there no longer; if it was the last one, end() is due.
  void forget(const WatchSink& sink, const WatchPlace& place);
  /// The watch has fired. Returns the sinks that waited; reads under way may set the watch again.
  [[nodiscard]] std::vector<Sink> fire(const WatchPlace& place);
  /// Drops the watch if no sink and no read uses it. True: it was dropped, and was set, so that it can be removed.
  [[nodiscard]] bool end(const WatchPlace& place);
  /// The watches that are set, or that a read under way is about to set.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// A watch may still be set at the place. True: there is one again, and it is removed with that one.
  [[nodiscard]] bool adopt(const WatchPlace& place);
  /// Empties the table when no read is under way, and returns all sinks.
  [[nodiscard]] std::vector<Sink> drain();

 private:
  struct Watched {
    std::uint32_t reads = 0;  // the number under way
    bool is_there = false;
    bool is_set = false;
  };
  struct Entry {
    WatchWaiters waiters{};
    std::array<Watched, 2> watched{};
    [[nodiscard]] bool is_unused(WatchKind kind) const;
  };
  struct PathHash {
    std::size_t operator()(const std::string& path) const noexcept { return std::hash<std::string>{}(path); }
  };
  /// It keeps no hashes, since PathHash is noexcept.
  using Entries = std::unordered_map<std::string, Entry, PathHash>;

  static std::size_t size_of(const std::string& path) noexcept { return path.size() + 4; }
  [[nodiscard]] Entry* find(const WatchPlace& place);

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::size_t size_ = 0;
  Entries entries_;
};

/// A read under way, which keeps the entry of its place.
class WatchTable::Read {
 public:
  Read() noexcept = default;
  explicit operator bool() const noexcept { return entry_ != nullptr; }
  [[nodiscard]] WatchPlace place() const { return {kind_, entry_->first}; }

 private:
  friend class WatchTable;
  Read(Entries::value_type& entry, WatchKind kind) noexcept : entry_{&entry}, kind_{kind} {}

  Entries::value_type* entry_ = nullptr;
  WatchKind kind_ = WatchKind::data;
};

}  // namespace zklock

// The watches of one session, and the sinks that wait for them.
#pragma once

#include "driver.hpp"
#include "slot_map.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zklock {

/// The server keeps data watches and child watches apart.
enum class WatchKind { data, children };

/// One entry for each path and kind, whatever the number of its sinks. The C client has one watcher for the entry, so
/// the last sink to leave can remove the watch without taking it from another.
class WatchTable {
 public:
  using Id = std::uint64_t;
  using Sink = std::shared_ptr<WatchSink>;

  struct Place {
    WatchKind kind;
    std::string path;
    friend bool operator==(const Place&, const Place&) = default;
  };

  /// The C client sets all watches again in one packet at each reconnect; a packet that is too large would be refused
  /// each time [F101]. The paths of the watches may have `max_bytes`.
  explicit WatchTable(std::size_t max_bytes) : max_bytes_{max_bytes} {}

  [[nodiscard]] bool has_room_for(WatchKind kind, const std::string& path) const;
  /// To be called before a read that sets the watch is sent.
  Id begin(WatchKind kind, const std::string& path);
  /// To be called when the read's reply has come. `is_set`: the server has set the watch; `sink` then waits for it,
  /// unless it is null. True: no sink and no read is left, and end() is due.
  [[nodiscard]] bool finish(Id id, bool is_set, Sink sink);
  /// The sink waits no longer. Returns the entry's id if it was the last one, so that end() is due.
  [[nodiscard]] std::optional<Id> forget(const WatchSink& sink);
  /// The watch has fired. Returns the sinks that waited; reads under way may set the watch again.
  [[nodiscard]] std::vector<Sink> fire(const Place& place);
  [[nodiscard]] bool unused(Id id);
  /// Drops an unused entry. Returns its place if a watch was set there, so that it can be removed.
  std::optional<Place> end(Id id);
  /// The entries: a watch each that is set, or that a read under way is about to set.
  [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }
  /// A watch may still be set at the place. True: there is an entry again, and the watch is removed with it.
  [[nodiscard]] bool adopt(const Place& place);
  /// Empties the table, and returns all sinks.
  [[nodiscard]] std::vector<Sink> drain();

 private:
  struct Entry {
    const Place* place;  // the key in ids_
    int reads = 0;
    bool is_set = false;
    std::vector<Sink> sinks;
  };

  struct PlaceHash {
    std::size_t operator()(const Place& place) const noexcept {
      return std::hash<std::string>{}(place.path) * 2 + static_cast<std::size_t>(place.kind);
    }
  };

  static std::size_t size_of(const std::string& path) noexcept { return path.size() + 4; }

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  SlotMap<Entry> entries_;
  std::unordered_map<Place, Id, PlaceHash> ids_;
};

}  // namespace zklock

// Who waits on which watch of one session.
#pragma once

#include "driver.hpp"
#include "registry.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zklock {

/// The server keeps data watches and child watches apart.
enum class WatchKind { data, children };

/// One entry for each path and kind, however many wait on it: the C client holds one watcher for it, and the last to go
/// can remove it without taking anybody else's.
class WatchTable {
 public:
  using Id = std::uint64_t;
  using Sink = std::shared_ptr<WatchSink>;

  struct Place {
    WatchKind kind;
    std::string path;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  /// All watches are sent again in one packet at each reconnect; one too large would be refused, time and again (101).
  /// `most_bytes` are there for their paths.
  explicit WatchTable(std::size_t most_bytes) : most_bytes_{most_bytes} {}

  [[nodiscard]] bool has_room_for(WatchKind kind, const std::string& path) const;
  /// A read that will set the watch is about to be sent.
  Id begin(WatchKind kind, const std::string& path);
  /// Its reply is there. `is_set`: the server has set the watch; `sink` then waits for it, unless it is null. True:
  /// nobody is left, and end() is due.
  [[nodiscard]] bool finish(Id id, bool is_set, Sink sink);
  /// The sink waits no longer. The entry's id if it was the last one, so that end() is due.
  [[nodiscard]] std::optional<Id> forget(const WatchSink& sink);
  /// The watch has fired: those who waited. Reads under way may set it again.
  [[nodiscard]] std::vector<Sink> fire(Id id);
  [[nodiscard]] bool unused(Id id);
  /// Drops an entry that nobody uses; its place if a watch was set there, to remove it.
  std::optional<Place> end(Id id);
  [[nodiscard]] bool in_use(const Place& place) const { return ids_.contains(place); }
  /// Everybody who waits on anything; the table is empty afterwards.
  [[nodiscard]] std::vector<Sink> drain();

 private:
  struct Entry {
    Place place;
    int reads = 0;
    bool is_set = false;
    std::vector<Sink> sinks;
  };

  static std::size_t size_of(const Place& place) noexcept { return place.path.size() + 4; }

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  Registry<Entry> entries_;
  std::map<Place, Id> ids_;
  std::map<const WatchSink*, Id> waiting_;
};

}  // namespace zklock

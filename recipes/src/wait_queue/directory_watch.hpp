// Proves that a lock's directory is the one in which an earlier node of the client was made.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/session.hpp>
#include <zklock/watch.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace zklock {

class DirectoryWatch;

/// The directory watches of a client. All watches of a session share one packet when the link comes back, so these may
/// take a quarter of it: beyond that the one that was used least recently is given up.
///
/// Threads: the client's executor.
class DirectoryWatches {
 public:
  explicit DirectoryWatches(std::size_t max_bytes) noexcept : max_bytes_{max_bytes} {}
  /// `watch` is about to be set, on a path of so many bytes.
  void admit(const std::shared_ptr<DirectoryWatch>& watch, std::size_t bytes);

 private:
  std::size_t max_bytes_;
  std::vector<std::weak_ptr<DirectoryWatch>> set_;
};

/// A data watch on a lock's directory, which fires when the directory is deleted, and not for its children. Servers
/// report that ahead of each reply that shows a later state. So while the watch has not fired, replies on the same
/// connection come from the same directory, and the numbers of its nodes count its creates without a gap. New data end
/// the proof, too, and the watch is set again.
///
/// Threads: the session's executor.
class DirectoryWatch : public std::enable_shared_from_this<DirectoryWatch> {
 public:
  /// Is called with a czxid: the client's nodes that were made before it are gone with their directory.
  using Gone = std::function<void(std::int64_t made_before)>;
  /// Sends the read that sets the watch. A refusal means that the directory is not watched, and nothing else.
  void set(const Session& session, const std::string& directory, Gone gone);
  /// Gives the watch up.
  void drop();

  /// It was set on the session's connection, or the read is under way, and not long ago: from 3.8.4 on, servers swallow
  /// the events of nodes that the client may not read any more, so now and then it is set again.
  [[nodiscard]] bool is_set(const Session& session) const;
  /// It cannot be set for the time being: it was refused.
  [[nodiscard]] bool is_refused() const { return Clock::now() < refused_until_; }
  /// The reply that is handled now, to a request of that connection, comes from the directory in which the client's
  /// node with that czxid was made.
  [[nodiscard]] bool proves(const Session& session, std::uint64_t connection, std::int64_t czxid) const;

 private:
  friend class DirectoryWatches;
  enum class Phase { none, requested, set };
  static constexpr std::int64_t ever = std::numeric_limits<std::int64_t>::max();
  void on_set(error_code error, const Stat& directory, Watch watch);
  void on_event(error_code ended, WatchEventType type);
  [[nodiscard]] bool is_on(const Session& session) const;

  Phase phase_ = Phase::none;
  std::uint64_t number_ = 0;  // of the read; a later one makes the replies and events of earlier ones void
  Session session_{};
  std::string directory_{};
  std::uint64_t connection_ = 0;
  std::int64_t czxid_ = 0;  // the directory's
  Watch watch_;
  Gone gone_;
  std::size_t bytes_ = 0;
  Clock::time_point requested_at_{};
  Clock::time_point refused_until_{};
  mutable Clock::time_point used_at_{};
};

}  // namespace zklock

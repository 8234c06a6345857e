// All locks below a few directories, as the latest readings show them. It does no I/O.
#pragma once

#include "board_lock.hpp"
#include "survey.hpp"

#include <zklock/results.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace zklock::tools {

/// So many holders and waiters of one lock are shown: 50 waiters behind 16 holders. More are not read.
inline constexpr std::size_t max_places = 66;
/// So many events of one lock are shown.
inline constexpr std::size_t max_events = 60;

/// The model behind `zklock dashboard`: it is fed with listings and with nodes' data, and gives the locks. Watches and
/// readings are hints: what begins and ends between two of them is not seen.
///
/// Times are this machine's. Threads: one at a time.
class LockBoard {
 public:
  using Time = std::chrono::system_clock::time_point;

  // ---- what was read

  /// Directories that a listing shows for the first time, and those that it does not show any more.
  struct Changes {
    std::vector<std::string> appeared;
    std::vector<std::string> deleted;
  };
  /// The children of a directory. What is below a child that is gone goes, too.
  Changes listed(const std::string& directory, const std::vector<std::string>& names, Time now);
  /// The directory does not exist. What is below it goes, too.
  void gone(const std::string& directory, Time now);
  void unreadable(const std::string& directory, Time now);
  void node_read(const std::string& node_path, const DataResult& node, Time now);
  /// The node's data cannot be read: it is gone, or there is no permission.
  void node_unreadable(const std::string& node_path);
  /// A bound was reached: what is below the directory is not read.
  void cut_off(const std::string& directory) { cut_off_.insert(directory); }

  // ---- what is known

  [[nodiscard]] const std::map<std::string, BoardLock>& locks() const noexcept { return locks_; }
  [[nodiscard]] const BoardLock* find(const std::string& lock) const;
  /// The lock's holders, then its waiters, each in the order of the queue; at most so many of them.
  [[nodiscard]] std::vector<BoardPlace> places(const std::string& lock, std::size_t limit) const;
  [[nodiscard]] const std::deque<BoardEvent>& history(const std::string& lock) const;
  /// The directories whose children the lock's nodes are: one, and two for a semaphore.
  [[nodiscard]] std::vector<std::string> directories_of(const std::string& lock) const;
  /// The lock to whose directories this one belongs.
  [[nodiscard]] std::string lock_of(const std::string& directory) const;
  /// Of each wait queue the first nodes, as far as their data were read, in the form that find_deadlocks() and
  /// find_stuck() take.
  [[nodiscard]] Survey survey() const;
  /// The lock's nodes to read next: its holders and its first `waiters` waiters, as far as they are not known.
  [[nodiscard]] std::vector<std::string> unread(const std::string& lock, std::size_t waiters) const;

  // ---- changes

  /// Grows with each change of a lock.
  [[nodiscard]] std::uint64_t revision() const noexcept { return revision_; }
  struct Removal {
    std::uint64_t revision = 0;
    std::string lock;
  };
  static constexpr std::size_t max_removals = 10'000;
  /// The locks that have gone, the last ones only, in the order of their revisions.
  [[nodiscard]] const std::deque<Removal>& removals() const noexcept { return removals_; }

 private:
  struct Directory {
    LockDirectory content;
    std::vector<std::string> children;  ///< the names that may be directories, sorted
    Time seen{};
    bool readable = true;
  };

  [[nodiscard]] const Directory* directory(const std::string& path) const;
  [[nodiscard]] SemaphoreQueues semaphore_of(const std::string& lock) const;
  [[nodiscard]] WaitQueue held_permits(const SemaphoreQueues& semaphore) const;
  [[nodiscard]] BoardLock summarise(const std::string& lock) const;
  Changes update_children(Directory& entry, const std::vector<std::string>& names);
  void erase_below(const std::string& directory);
  void refresh(const std::string& lock, Time now);
  void remove_lock(const std::string& lock, Time now);
  void record(const BoardLock& before, const BoardLock& after, Time now);
  void remember(const std::string& lock, BoardEvent event);
  void complete_history(const std::string& lock, const LockParticipant& one);

  std::map<std::string, Directory> directories_;
  std::map<std::string, BoardLock> locks_;
  std::set<std::string> semaphores_;
  std::map<std::string, std::deque<BoardEvent>> history_;
  std::set<std::string> cut_off_;
  std::deque<Removal> removals_;
  std::uint64_t revision_ = 0;
};

}  // namespace zklock::tools

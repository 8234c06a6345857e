// The records that a process of the campaign writes for the judge.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::chaos {

/// The kinds of events. The lock users' come first, then the register's and the director's, then those of the logs
/// "worker.<process>.follow", in which `lock` is the path of any node.
enum class Event {
  invoked,      ///< an acquire begins, of the `lock` ("one+other": of both); `limit` says how long it may take
  granted,      ///< a lock is held by the node that transaction `token` has created
  refused,      ///< the acquire has failed, for the `reason`
  listens,      ///< the user waits to be told of its loss
  lost,         ///< the user is told that it has lost the lock
  trusts,       ///< by its lease's report the lock is held until `number`, microseconds of the system's clock; with a
                ///< `session`, by that session's report
  releasing,    ///< the user begins to release the lock
  released,     ///< the user has released the lock; the `reason` is the outcome
  finished,     ///< the user goes on to its next operation
  stalled,      ///< the client's I/O thread was late by `token` ms, by `number` of them not for want of a processor or
                ///< for the campaign's writes; it worked for `limit` ms then
  late,         ///< the machine has let a thread of the process, or of the director, oversleep by `number` ms
  measured,     ///< `number` of what the `reason` names
  drained,      ///< all users have come to their end, and the client is still connected
  entered,      ///< the register lets the user in
  turned_away,  ///< the register has seen a greater token
  left,         ///< the user has left, or its connection has broken
  fault,        ///< `reason` begins, at the process or server `number`
  healed,       ///< the fault is over
  keeps,        ///< the process begins to keep a node
  claims,       ///< its state (`reason`) is shown, of the node made by `token`, on the client's `session`
  wishes,       ///< its data are to be `reason`
  closes,       ///< the process begins to close it
  closed,       ///< that has ended; the `reason` is the outcome
  shows,        ///< a group's members are shown: "id:czxid,id:czxid" (`reason`); as live: `number` is a time at which
                ///< there was no link yet. Or an election's leader, by its `token`; 0: none
  follows,      ///< the process begins to follow a tree, a count, a group, or an election's leaders
  told,       ///< it is told of a node: `reason` is what; `token` the mzxid, `number` the czxid. `live`: `number` is a
              ///< time at which there was no link yet
  unfollows,  ///< it follows no more
  looks,      ///< the process asks for the tree's last state
  holds,      ///< which has a node: `token` is the mzxid
  held,       ///< that is all; `reason`: "ok", or why the state is not the last one
  adds,       ///< a compare-and-set of a count begins: from version `number` to the value `token`, by adding `limit`
  added,      ///< its outcome (`reason`): "ok", with the version `number` and the mzxid `token`; "no"; or an error
};

[[nodiscard]] std::string_view to_string(Event event) noexcept;

/// A line of a log. Times are those of the one machine that everything runs on. No verdict on exclusion or order rests
/// on them, only those on punctuality, and excuses.
struct Record {
  std::int64_t at = 0;  ///< microseconds of the system's clock, which stamps the servers' transactions, too
  Event event = Event::invoked;
  int process = 0;
  std::int64_t operation = 0;  ///< unique in its process
  std::string lock{};          ///< the path of a lock, or of a semaphore
  std::int64_t token = 0;
  std::int64_t session = 0;
  std::int64_t number = 0;
  std::int64_t limit = -1;  ///< ms; -1: none
  std::string reason{};     ///< one word

  friend bool operator==(const Record&, const Record&) = default;
};

[[nodiscard]] std::string to_line(const Record& record);
/// Nothing when the text is not a line of a log; the last line of a killed process may be incomplete.
[[nodiscard]] std::optional<Record> parse_line(std::string_view line);
[[nodiscard]] std::vector<Record> read_log(const std::filesystem::path& path);

[[nodiscard]] std::int64_t now_in_microseconds();

/// A log of this process. A record is one write(2) at the end of the file, so what is written survives the process.
///
/// Threads: any.
class Log {
 public:
  explicit Log(const std::filesystem::path& path);
  ~Log();
  Log(const Log&) = delete;

  /// Fills in the time, if the record has none.
  void write(Record record) const;
  /// How long this thread has been in writes, of any log: a busy disk may block one.
  [[nodiscard]] static std::chrono::nanoseconds time_in_writes() noexcept;

 private:
  int file_;
};

}  // namespace zklock::chaos

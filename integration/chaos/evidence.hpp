// All that is known of a run, in the order in which the judge asks for it.
#pragma once

#include "history.hpp"
#include "record.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace zklock::chaos {

/// How exact clocks and machines are taken to be, and what ZooKeeper itself may take.
struct Bounds {
  std::chrono::microseconds session_timeout{2'000'000};
  std::chrono::microseconds tolerance{500'000};              ///< of two busy processors
  std::chrono::microseconds hand_over{1'000'000};            ///< to a running waiter, while nothing is wrong
  std::chrono::microseconds troubled_hand_over{15'000'000};  ///< T, two ticks, an election, and five seconds
  std::chrono::microseconds one_try{20'000'000};             ///< the client's connection_timeout
  std::int64_t connections_a_second = 40;                    ///< of one client
  double requests_an_acquisition = 15;                       // seven are usual
};

/// An acquire that was granted: a node, and what its user did.
struct Hold {
  Record granted{};
  std::int64_t listens_at = 0;   ///< 0: never; so are those that follow
  std::int64_t lost_at = 0;      ///< told first
  std::int64_t left_at = 0;      ///< the resource, by the register
  std::int64_t released_at = 0;  ///< the last of its releases
  std::string released_with{};   ///< "ok", an error, or "dropped"
};

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = INT64_MAX;
};

struct Evidence {
  Bounds bounds{};
  History history{};
  std::vector<Record> users{};   ///< of all processes, each in its order
  std::vector<Record> visits{};  ///< the register's
  std::vector<Record> faults{};  ///< the director's

  // what follows from these; `index` fills it in
  std::map<std::int64_t, Hold> holds{};          ///< by the transactions that made their nodes
  std::map<int, std::vector<Interval>> stops{};  ///< when a process was stopped
  std::map<int, std::int64_t> killed{};          ///< and when it was killed
  std::vector<Record> late{};                    ///< how late the machine was
  std::set<int> drained{};
  std::set<std::int64_t> operators{};       ///< sessions that may do to nodes what they like
  std::set<std::int64_t> ended_sessions{};  ///< from outside
  std::vector<Interval> troubles{};         ///< when anything was wrong
  void index();
  /// The transaction that made the node that a user's record, or the register's, is about: its token, but for a writer
  /// who goes on as a reader.
  [[nodiscard]] std::int64_t node_of(const Record& record) const;

  /// How long the process was stopped in that time.
  [[nodiscard]] std::chrono::microseconds stopped(int process, Interval when) const;
  [[nodiscard]] bool is_quiet(Interval when) const;
  /// Whether the process had to connect again, as far as the links' counts, taken once a second, can tell.
  [[nodiscard]] bool lost_link(int process, Interval when) const;
  /// The most that the machine has let any thread oversleep then.
  [[nodiscard]] std::chrono::microseconds lateness(Interval when) const;
  /// True: it did not come to its end because somebody killed it.
  [[nodiscard]] bool was_killed(int process) const { return killed.contains(process); }

  /// Of those who are readers beside their own writers.
  std::map<std::tuple<int, std::int64_t, std::int64_t>, std::int64_t> readers_beside{};
};

/// From the files of a campaign's directory.
[[nodiscard]] Evidence collect_evidence(const std::filesystem::path& directory);

}  // namespace zklock::chaos

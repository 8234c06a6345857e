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
  std::chrono::microseconds clocks{10'000};                  ///< two processes read the one clock of the machine
  double granted = 0.1;                                      ///< of what has a limit of each kind, at the least
  double of_the_mean = 0.2;                                  ///< each kind's grants, to those of all kinds in the mean
  std::chrono::microseconds one_try{20'000'000};             ///< the client's connection_timeout
  std::int64_t connections_a_second = 40;                    ///< of one client
  double requests_an_acquisition = 15;                       // seven are usual
};

/// An acquire that was granted: a node, and what its user did.
struct Hold {
  Record granted{};
  std::int64_t listens_at = 0;    ///< 0: never; so are those that follow
  std::int64_t lost_at = 0;       ///< told first
  std::int64_t releasing_at = 0;  ///< the last of its releases begins
  std::int64_t left_at = 0;       ///< the resource, by the register
  std::int64_t released_at = 0;   ///< the last of its releases
  std::string released_with{};    ///< "ok", an error, or "dropped"
};

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = INT64_MAX;
};

/// An acquire, from its beginning to its outcome.
struct Attempt {
  int process = 0;
  std::int64_t operation = 0;
  std::string kind{};
  Interval when{};
  bool has_limit = false;
  std::vector<std::int64_t> nodes{};  ///< that it was granted
};

/// While something is wrong with all, or with one process alone.
struct Trouble {
  Interval when{};
  int process = 0;  ///< 0: with all
};

struct Evidence {
  Bounds bounds{};
  History history{};
  std::vector<Record> users{};   ///< of all processes, each in its order
  std::vector<Record> visits{};  ///< the register's
  std::vector<Record> faults{};  ///< the director's

  // what follows from these; `index` fills it in
  std::map<std::int64_t, Hold> holds{};     ///< by the transactions that made their nodes
  std::map<std::int64_t, Record> trusts{};  ///< of each session the longest: until when it has thought itself alive
  std::map<int, std::vector<Interval>> stops{};  ///< when a process was stopped
  std::map<int, std::int64_t> killed{};          ///< and when it was killed
  std::vector<Record> late{};                    ///< how late the machine was, in microseconds
  std::set<int> drained{};
  std::int64_t begins_at = INT64_MAX;  ///< of the users' records
  std::int64_t ends_at = 0;            ///< nothing is known of what comes later
  /// By process and lock, in the order of their beginnings.
  std::map<std::pair<int, std::string>, std::vector<Attempt>> attempts{};
  std::set<std::int64_t> operators{};       ///< sessions that may do to nodes what they like
  std::set<std::int64_t> ended_sessions{};  ///< from outside
  std::vector<Trouble> troubles{};
  void index();
  void index_attempts();
  void index_troubles();
  void index_lateness();
  void note_trust(const Record& record);
  /// The transaction that made the node that a user's record, or the register's, is about: its token, but for a writer
  /// who goes on as a reader.
  [[nodiscard]] std::int64_t node_of(const Record& record) const;

  /// How long the process was stopped in that time.
  [[nodiscard]] std::chrono::microseconds stopped(int process, Interval when) const;
  /// `limit`; or, where the process was stopped between `from` and then, that long after it went on.
  [[nodiscard]] std::int64_t after_stops(int process, std::int64_t from, std::int64_t limit,
                                         std::int64_t patience) const;
  /// Nothing was wrong with that process, nor with what all need.
  [[nodiscard]] bool is_quiet(Interval when, int process) const;
  /// For how long nothing was wrong at all.
  [[nodiscard]] std::chrono::microseconds quiet_time() const;
  /// Who has made the node, by its data; 0: none of ours.
  [[nodiscard]] int process_of(const Node& node) const;
  /// Those of which one has made the node: the one that was granted it, or those that were under way; or the last one
  /// before, whose create came when it had ended.
  [[nodiscard]] std::vector<const Attempt*> makers_of(const Node& node) const;
  /// Whether the process had to connect again, as far as the links' counts, taken once a second, can tell.
  [[nodiscard]] bool lost_link(int process, Interval when) const;
  /// The most that the machine has let any thread oversleep then, but for those of a process that was stopped.
  [[nodiscard]] std::chrono::microseconds lateness(Interval when) const;
  /// When somebody killed it: from then on it owes nothing. INT64_MAX: nobody did.
  [[nodiscard]] std::int64_t killed_at(int process) const {
    const auto found = killed.find(process);
    return found == killed.end() ? INT64_MAX : found->second;
  }
  /// What takes that long is too long: when nothing was wrong, or else; and on a machine that is late itself.
  [[nodiscard]] bool is_too_long(int process, Interval when) const;

  /// Of those who are readers beside their own writers.
  std::map<std::tuple<int, std::int64_t, std::int64_t>, std::int64_t> readers_beside{};
};

/// From the files of a campaign's directory.
[[nodiscard]] Evidence collect_evidence(const std::filesystem::path& directory);

}  // namespace zklock::chaos

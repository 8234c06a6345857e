// All that is known of a run, in the order in which the judge asks for it.
#pragma once

#include "audit_trail.hpp"
#include "history.hpp"
#include "lives.hpp"
#include "record.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace zklock::chaos {

/// How exact clocks and machines are assumed to be, and how long ZooKeeper itself may take.
struct Bounds {
  std::chrono::microseconds session_timeout{2'000'000};
  std::chrono::microseconds tolerance{500'000};            ///< of two busy processors
  std::chrono::microseconds handoff{1'000'000};            ///< to a running waiter, while nothing is wrong
  std::chrono::microseconds troubled_handoff{15'000'000};  ///< T, two ticks, an election, and five seconds
  std::chrono::microseconds clocks{10'000};                ///< two processes read the one clock of the machine
  /// From the time of a transaction, at which the leader has begun it, until a majority has it and clients may see it,
  /// in troubled times.
  std::chrono::microseconds commit{200'000};
  double granted = 0.1;                           ///< of the acquires of a kind with a limit, at the least
  double of_the_mean = 0.2;                       ///< each kind's grants, to the mean of all kinds
  std::chrono::microseconds one_try{20'000'000};  ///< the client's connection_timeout
  std::int64_t connections_a_second = 40;         ///< of one client
  double requests_an_acquisition = 15;            // seven are usual
};

/// An acquire that was granted: a node, and what its user did.
struct Hold {
  Record granted{};
  std::int64_t listens_at = 0;    ///< 0: never; the same for the next ones
  std::int64_t lost_at = 0;       ///< when its user is first told
  std::int64_t releasing_at = 0;  ///< when the last of its releases begins
  std::int64_t left_at = 0;       ///< when it leaves the resource, by the register
  std::int64_t released_at = 0;   ///< when the last of its releases ends
  std::string released_with{};    ///< "ok", an error, or "dropped"
};

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = INT64_MAX;
};

/// That another acquire was there which a node kept out.
struct Wanted {
  Interval when{};          ///< of a reader's node until it has gone; of others for ever: its coming ends the keeping
  bool by_another = false;  ///< client
};

/// An acquire, from its beginning to its outcome.
struct Attempt {
  int process = 0;
  std::int64_t operation = 0;
  std::string kind{};
  Interval when{};
  bool has_limit = false;
  std::vector<std::int64_t> nodes{};  ///< the nodes that it was granted
};

/// A time in which something is wrong with all processes, or with one process alone.
struct Trouble {
  Interval when{};
  int process = 0;  ///< 0: with all processes
};

struct Evidence {
  Bounds bounds{};
  History history{};
  std::vector<Record> users{};   ///< of all processes, each in its order
  std::vector<Record> visits{};  ///< the register's
  std::vector<Record> faults{};  ///< the director's
  std::vector<AuditRecord> audit{};
  std::vector<Record> follows{};  ///< of all processes, each in its order
  Lives lives{};
  /// The times of three seconds and more in which the servers have changed no node: their leader had no followers.
  std::vector<Interval> outages{};

  // What follows from these; `index` fills it in.
  /// By processes, operations, and the transactions that made their nodes.
  std::map<std::tuple<int, std::int64_t, std::int64_t>, Hold> grants{};
  /// By the transactions alone. Where a client keeps a lock silently, one node is granted again and again, and to
  /// several readers at once: its first grant, and what the last of its users did. Its release begins, and ends, when
  /// that of the last of them does.
  std::map<std::int64_t, Hold> holds{};
  std::map<std::int64_t, std::vector<Wanted>> wanted{};  ///< of nodes that clients keep
  std::map<std::int64_t, Record> trusts{};       ///< of each session the longest: until when it reported itself valid
  std::map<int, std::vector<Interval>> stops{};  ///< when each process was stopped
  std::map<int, std::int64_t> killed{};          ///< and when it was killed
  std::vector<Record> late{};                    ///< how late the machine was, in microseconds
  std::set<int> drained{};
  std::set<int> foreign_users{};       ///< processes with another library
  std::set<int> unheard{};             ///< processes of users without an audit log
  std::int64_t begins_at = INT64_MAX;  ///< of the users' records
  std::int64_t ends_at = 0;            ///< the time after it is unknown
  /// By process and lock, in the order of their beginnings.
  std::map<std::pair<int, std::string>, std::vector<Attempt>> attempts{};
  std::set<std::int64_t> operators{};       ///< sessions that may change nodes as they like
  std::set<std::int64_t> ended_sessions{};  ///< from outside
  std::vector<Trouble> troubles{};
  void index();
  void index_holds();
  void index_wanted();
  void index_attempts();
  void index_troubles();
  void index_lateness();
  void note_trust(const Record& record);
  /// The transaction that made the node which a record of a user, or of the register, is about. It is the token, except
  /// for a writer that goes on as a reader.
  [[nodiscard]] std::int64_t node_of(const Record& record) const;
  /// Its key among the grants.
  [[nodiscard]] std::tuple<int, std::int64_t, std::int64_t> grant_of(const Record& record) const;
  /// The acquires that the node, which is kept, has kept out.
  [[nodiscard]] std::span<const Wanted> wanted_by(std::int64_t node) const {
    const auto found = wanted.find(node);
    return found == wanted.end() ? std::span<const Wanted>{} : found->second;
  }

  /// How long the process was stopped in that time.
  [[nodiscard]] std::chrono::microseconds stopped(int process, Interval when) const;
  /// `limit`; or, if the process was stopped between `from` and then, that much time after it went on.
  [[nodiscard]] std::int64_t after_stops(int process, std::int64_t from, std::int64_t limit,
                                         std::int64_t tolerance) const;
  /// The time of the last transactions that any client must be able to see at that time.
  [[nodiscard]] std::int64_t visible_at(std::int64_t time, int process) const;
  /// Whether nothing was wrong with that process, nor with what all processes need.
  [[nodiscard]] bool is_quiet(Interval when, int process) const;
  /// For how long nothing was wrong at all.
  [[nodiscard]] std::chrono::microseconds quiet_time() const;
  /// The process that made the node, by the node's data. 0: no process of the campaign.
  [[nodiscard]] int process_of(const Node& node) const;
  /// Whether another library has made the node beside another one of the same attempt: neither Curator nor Kazoo asks a
  /// server to catch up before it looks for a node whose reply was lost. It may then wait for the other one.
  [[nodiscard]] bool is_twin_of_foreign_user(const Node& node) const;
  /// Whether a candidate that stands for ever has given its node up before its user did: it had lost the leadership by
  /// its time, and stands again.
  [[nodiscard]] bool is_given_up(const Node& node) const;
  /// Until when the attempt may make nodes: until its outcome, or, where a candidate stands for ever, until its user
  /// has given it up.
  [[nodiscard]] std::int64_t end_of_nodes(const Attempt& attempt) const;
  /// The attempts one of which has made the node: the attempt that was granted it, or those that were under way, or the
  /// last one before, whose create came when it had ended.
  [[nodiscard]] std::vector<const Attempt*> makers_of(const Node& node) const;
  /// Whether the process had to connect again, as far as the links' counts, taken once a second, can tell.
  [[nodiscard]] bool lost_link(int process, Interval when) const;
  /// The most that the machine has let any thread oversleep then, except the threads of a process that was stopped.
  [[nodiscard]] std::chrono::microseconds lateness(Interval when) const;
  /// When the process was killed: it owes nothing from then on. INT64_MAX: never.
  [[nodiscard]] std::int64_t killed_at(int process) const {
    const auto found = killed.find(process);
    return found == killed.end() ? INT64_MAX : found->second;
  }
  /// Whether that time is too long: by one limit when nothing was wrong, by another one otherwise, and longer on a
  /// machine that is late itself.
  [[nodiscard]] bool is_too_long(int process, Interval when) const;

  /// The nodes of readers beside their own writers.
  std::map<std::tuple<int, std::int64_t, std::int64_t>, std::int64_t> readers_beside{};
};

/// From the files of a campaign's directory.
[[nodiscard]] Evidence collect_evidence(const std::filesystem::path& directory, const Bounds& bounds = {});

}  // namespace zklock::chaos

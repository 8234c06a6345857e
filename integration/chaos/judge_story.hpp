// Histories made by hand, for the tests of the judge.
#pragma once

#include "judge.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace zklock::chaos {

inline constexpr std::int64_t second = 1'000'000;
inline constexpr std::int64_t one = 11, two = 22, theirs = 99;  // sessions

/// A history under construction; times are seconds, tokens the numbers of the transactions.
class Story {
 public:
  /// About one lock, unless told otherwise.
  explicit Story(std::string line = "mutex0") : line_{std::move(line)} {
    change(1, theirs, {.kind = Change::Kind::create, .path = "/locks/" + line_});
  }

  Story& create(std::int64_t zxid, std::int64_t session, const std::string& name, const std::string& line = {}) {
    return change(zxid, session,
                  {.kind = Change::Kind::create,
                   .path = path_of(name, line),
                   .data = session == theirs ? ""
                           : session == one  ? "worker-1:1"
                                             : "worker-2:1",
                   .is_ephemeral = true});
  }
  Story& remove(std::int64_t zxid, std::int64_t session, const std::string& name, const std::string& line = {}) {
    return change(zxid, session, {.kind = Change::Kind::remove, .path = path_of(name, line)});
  }
  Story& write(std::int64_t zxid, std::int64_t session, const std::string& name, const std::string& data) {
    return change(zxid, session, {.kind = Change::Kind::set_data, .path = path_of(name), .data = data});
  }
  Story& mark(std::int64_t zxid, std::int64_t session, const std::string& name, const std::string& line = {}) {
    change(zxid, session, {.kind = Change::Kind::check, .path = path_of(name, line)});
    transactions.back().changes.push_back({.kind = Change::Kind::set_data, .path = "/marks"});
    return *this;
  }
  /// Sets the request of the last transaction.
  Story& by_request(std::int32_t number) {
    transactions.back().request = number;
    return *this;
  }
  Story& close(std::int64_t zxid, std::int64_t session) {
    transactions.push_back({.zxid = zxid, .session = session, .at = zxid * second, .closes_session = true});
    return *this;
  }
  Story& user(double at, Event event, int process, std::int64_t token, const std::string& reason = {}) {
    return note(evidence.users, at, event, process, token, reason);
  }
  /// An acquire of that lock that gives up. `limit` in milliseconds; -1: none.
  Story& refused(double from, double to, int process, std::int64_t operation, const std::string& kind,
                 const std::string& lock = "/locks/mutex0", std::int64_t limit = -1) {
    for (const Event event : {Event::invoked, Event::refused})
      evidence.users.push_back({.at = micro(event == Event::invoked ? from : to),
                                .event = event,
                                .process = process,
                                .operation = operation,
                                .lock = lock,
                                .limit = event == Event::invoked ? limit : -1,
                                .reason = event == Event::invoked ? kind : "timed_out"});
    return *this;
  }
  Story& visit(double at, Event event, int process, std::int64_t token) {
    return note(evidence.visits, at, event, process, token, {});
  }
  Story& fault(double at, const std::string& kind, std::int64_t target, Event event = Event::fault, int process = 0) {
    evidence.faults.push_back(
        {.at = micro(at), .event = event, .process = process, .session = target, .number = target, .reason = kind});
    return *this;
  }
  /// A thread of the process that has nothing to do has overslept until then.
  Story& late(double at, int process, std::int64_t milliseconds) {
    evidence.users.push_back({.at = micro(at), .event = Event::late, .process = process, .number = milliseconds});
    return *this;
  }
  /// A process is started in the place of another, with its links.
  Story& replaced(double at, int before, int process) {
    evidence.faults.push_back(
        {.at = micro(at), .event = Event::measured, .process = process, .number = before, .reason = "replaces"});
    return *this;
  }
  Story& measure(const std::string& what, std::int64_t number, double at = 0) {
    evidence.faults.push_back(
        {.at = micro(at), .event = Event::measured, .process = 1, .number = number, .reason = what});
    return *this;
  }
  /// A line of a process's audit log.
  Story& audit(double at, AuditRecord::Kind kind, int process, std::int64_t token, const std::string& name,
               const std::string& cause = {}) {
    evidence.audit.push_back({.kind = kind,
                              .process = process,
                              .at = micro(at),
                              .sequence = ++sequences_[process],
                              .attempt = token,
                              .session = process == 1 ? one : two,
                              .token = token,
                              .node = path_of(name),
                              .cause = cause});
    return *this;
  }
  Story& ends_by_metrics(int process, std::int64_t ends) {
    evidence.users.push_back(
        {.at = micro(19), .event = Event::measured, .process = process, .number = ends, .reason = "ends_by_metrics"});
    return *this;
  }
  /// Builds the evidence anew, with all that the story has so far.
  Evidence& tell() {
    evidence = {.users = evidence.users,
                .visits = evidence.visits,
                .faults = evidence.faults,
                .audit = evidence.audit,
                .follows = evidence.follows};
    evidence.history = History{transactions};
    evidence.lives = Lives{transactions};
    evidence.index();
    return evidence;
  }

  std::vector<ServerTransaction> transactions{};
  Evidence evidence{};

 private:
  std::string line_;
  std::map<int, std::int64_t> sequences_{};

  [[nodiscard]] std::string path_of(const std::string& name, const std::string& line = {}) const {
    return "/locks/" + (line.empty() ? line_ : line) + "/" + name;
  }

  static std::int64_t micro(double seconds) { return static_cast<std::int64_t>(seconds * second); }
  Story& change(std::int64_t zxid, std::int64_t session, Change change) {
    transactions.push_back({.zxid = zxid, .session = session, .at = zxid * second, .changes = {std::move(change)}});
    return *this;
  }
  Story& note(std::vector<Record>& log, double at, Event event, int process, std::int64_t token,
              const std::string& reason) {
    log.push_back({.at = micro(at),
                   .event = event,
                   .process = process,
                   .operation = token,
                   .lock = "/locks/" + line_,
                   .token = token,
                   .reason = reason});
    return *this;
  }
};

inline constexpr const char* a = "_c_00000000-0000-0000-0000-00000000000a-lock-0000000000";
inline constexpr const char* b = "_c_00000000-0000-0000-0000-00000000000b-lock-0000000001";

/// One user holds the lock and releases it, then the other user has it.
inline Story handed_off() {
  Story story;
  story.create(10, one, a).mark(11, one, a).create(12, two, b).remove(13, one, a).mark(14, two, b).remove(15, two, b);
  story.user(9.5, Event::invoked, 1, 10).user(10.1, Event::granted, 1, 10);
  story.user(13.1, Event::released, 1, 10, "ok").user(13.1, Event::finished, 1, 10);
  story.user(11.5, Event::invoked, 2, 12).user(13.2, Event::granted, 2, 12);
  story.user(15.1, Event::released, 2, 12, "ok").user(15.1, Event::finished, 2, 12);
  story.user(20, Event::drained, 1, 0).user(20, Event::drained, 2, 0);
  story.visit(10.2, Event::entered, 1, 10).visit(12.9, Event::left, 1, 10);
  story.visit(13.3, Event::entered, 2, 12).visit(14.9, Event::left, 2, 12);
  using Kind = AuditRecord::Kind;
  story.audit(10.1, Kind::granted, 1, 10, a).audit(13, Kind::released, 1, 10, a);
  story.audit(13.2, Kind::granted, 2, 12, b).audit(15, Kind::released, 2, 12, b);
  story.ends_by_metrics(1, 1).ends_by_metrics(2, 1);
  return story;
}

/// The session of the holder ends, and the other user has the lock.
inline Story taken_away() {
  Story story;
  story.create(10, one, a).create(12, two, b).close(13, one).mark(14, two, b).remove(16, two, b);
  story.user(10.1, Event::granted, 1, 10).user(10.2, Event::listens, 1, 10);
  story.user(13.2, Event::granted, 2, 12).user(16.1, Event::released, 2, 12, "ok");
  story.visit(10.2, Event::entered, 1, 10).visit(13.3, Event::entered, 2, 12);
  return story;
}

}  // namespace zklock::chaos

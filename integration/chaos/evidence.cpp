#include "evidence.hpp"

#include "layout.hpp"
#include "register.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace zklock::chaos {
namespace {

/// A fault has effects for a while after its end: on sessions that have to come back, and on waiters for their end.
constexpr std::int64_t aftermath = 4'000'000;

std::vector<std::string> split(const std::string& locks) {
  const auto plus = locks.find('+');
  if (plus == std::string::npos) return {locks};
  return {locks.substr(0, plus), locks.substr(plus + 1)};
}

/// A semaphore's nodes are in directories below it.
std::string lock_of(const std::string& line) {
  for (const std::string_view directory : {"/leases", "/locks"})
    if (line.ends_with(directory)) return line.substr(0, line.size() - directory.size());
  return line;
}

/// How much of that time is in these intervals.
std::int64_t time_in(const std::vector<Interval>& some, Interval when) {
  std::int64_t sum = 0;
  for (const Interval& each : some)
    sum += std::max<std::int64_t>(0, std::min(each.end, when.end) - std::max(each.begin, when.begin));
  return sum;
}

/// The processes change something every second or two, whatever becomes of the locks. A leader without followers may
/// still begin sessions, and end them: they are carried out once it has some.
std::vector<Interval> outages_of(const std::vector<ServerTransaction>& transactions) {
  constexpr std::int64_t shortest = 3'000'000;
  std::vector<Interval> found;
  std::int64_t last = INT64_MAX;
  for (const ServerTransaction& each : transactions) {
    if (each.changes.empty()) continue;
    if (last < each.at - shortest) found.push_back({last, each.at});
    last = each.at;
  }
  return found;
}

/// Foreign users do not say whether they read or write.
bool may_make(const std::string& kind, const Node& node) {
  const bool reads = kind == "read" || kind == "silent_read" || kind == "downgrade";
  const bool writes = kind == "write" || kind == "silent_write" || kind == "several";
  if (node.place.kind == LockKind::read) return !writes;
  if (node.place.kind == LockKind::write) return !reads;
  return true;
}

}  // namespace

void Evidence::index() {
  for (const Record& each : users) {
    if (each.event == Event::granted && Share{static_cast<int>(each.number)} == Share::with_readers)
      if (const Node* reader = history.beside(each.token))
        readers_beside[{each.process, each.operation, each.token}] = reader->created;
    const auto hold = grants.find(grant_of(each));
    switch (each.event) {
      case Event::granted: grants[grant_of(each)].granted = each; break;
      case Event::listens:
        if (hold != grants.end()) hold->second.listens_at = each.at;
        break;
      case Event::lost:
        if (hold != grants.end() && hold->second.lost_at == 0) hold->second.lost_at = each.at;
        break;
      case Event::released:
        if (hold == grants.end()) break;
        hold->second.released_at = each.at;
        hold->second.released_with = each.reason;
        break;
      case Event::trusts: note_trust(each); break;
      case Event::releasing:
        if (hold != grants.end()) hold->second.releasing_at = each.at;
        break;
      case Event::drained: drained.insert(each.process); break;
      case Event::measured:
        if (each.reason == "foreign_user") foreign_users.insert(each.process);
        if (each.reason == "no_audit_log") unheard.insert(each.process);
        break;
      default: break;
    }
  }
  for (const Record& each : visits)
    if (const auto hold = grants.find(grant_of(each)); hold != grants.end() && each.event == Event::left)
      hold->second.left_at = each.at;
  index_holds();
  index_wanted();
  for (const auto* log : {&users, &visits, &faults})
    for (const Record& each : *log) ends_at = std::max(ends_at, each.at);
  for (const Record& each : users) begins_at = std::min(begins_at, each.at);
  index_attempts();
  for (const Record& each : faults) {
    const auto process = static_cast<int>(each.number);
    const bool is_stop = each.reason.starts_with("client_paused");
    if (each.event == Event::fault) {
      if (each.reason == "node_deleted" || each.reason == "foreign_child") operators.insert(each.session);
      if (each.reason == "session_ended") ended_sessions.insert(each.session);
      if (each.reason == "client_killed") killed[process] = each.at;
      if (is_stop) stops[process].push_back({each.at});
    } else if (each.event == Event::healed && is_stop && !stops[process].empty()) {
      stops[process].back().end = each.at;
    }
  }
  index_troubles();
  index_lateness();
}

/// A process that replaces another has its links, and the faults on them.
void Evidence::index_troubles() {
  std::map<int, int> successors;
  std::map<std::pair<std::string, std::int64_t>, std::vector<std::size_t>> under_way;
  for (const Record& each : faults) {
    if (each.event == Event::measured && each.reason == "replaces") {
      const auto before = static_cast<int>(each.number);
      successors[before] = each.process;
      for (auto& [kind, some] : under_way)
        for (std::size_t i = 0, size = some.size(); i < size; ++i) {
          if (troubles[some[i]].process != before || troubles[some[i]].when.end != INT64_MAX) continue;
          some.push_back(troubles.size());
          troubles.push_back({{each.at}, each.process});
        }
    } else if (each.event == Event::fault) {
      const bool lasts = each.reason != "node_deleted" && each.reason != "foreign_child" &&
                         each.reason != "session_ended" && each.reason != "link_cut_in_frame";
      auto& some = under_way[{each.reason, each.number}] = {};
      for (int process = each.process;; process = successors.at(process)) {
        some.push_back(troubles.size());
        troubles.push_back({{each.at, lasts ? INT64_MAX : each.at + aftermath}, process});
        if (!successors.contains(process)) break;
      }
    } else if (each.event == Event::healed) {
      if (const auto begun = under_way.extract({each.reason, each.number}))
        for (const std::size_t which : begun.mapped()) troubles[which].when.end = each.at + aftermath;
    }
  }
}

/// The lateness of the machine: while a process is stopped its threads oversleep, too. The director is never stopped.
void Evidence::index_lateness() {
  constexpr std::int64_t worth_a_line = 50'000;
  for (Record each : users) {
    if (each.event != Event::late) continue;
    each.number *= 1'000;
    each.number -= stopped(each.process, {each.at - each.number, each.at}).count();
    if (each.number >= worth_a_line) late.push_back(each);
  }
  for (Record each : faults) {
    if (each.event != Event::late) continue;
    each.number *= 1'000;
    late.push_back(each);
  }
}

/// The validity that a lease reports is that of its session.
void Evidence::note_trust(const Record& record) {
  const Node* node = history.find(node_of(record));
  const std::int64_t session = record.session != 0 ? record.session : node ? node->session : 0;
  const auto [longest, is_first] = trusts.emplace(session, record);
  if (!is_first && longest->second.number < record.number) longest->second = record;
}

void Evidence::index_attempts() {
  std::map<std::pair<int, std::int64_t>, std::pair<Attempt, std::string>> all;
  for (const Record& each : users) {
    const std::pair key{each.process, each.operation};
    if (each.event == Event::invoked)
      all.emplace(key,
                  std::pair{Attempt{each.process, each.operation, each.reason, {each.at}, each.limit >= 0}, each.lock});
    const auto found = all.find(key);
    if (found == all.end() || (each.event != Event::granted && each.event != Event::refused)) continue;
    Attempt& attempt = found->second.first;
    attempt.when.end = std::min(attempt.when.end, each.at);
    if (each.event == Event::granted) attempt.nodes.push_back(node_of(each));
  }
  for (const auto& [key, attempt] : all)
    for (const std::string& lock : split(attempt.second)) attempts[{key.first, lock}].push_back(attempt.first);
  for (auto& [place, some] : attempts)
    std::ranges::stable_sort(some, {}, [](const Attempt& a) { return a.when.begin; });
}

int Evidence::process_of(const Node& node) const {
  constexpr std::string_view prefix = "worker-";
  return node.client.starts_with(prefix) ? std::atoi(node.client.c_str() + prefix.size()) : 0;
}

bool Evidence::is_twin_of_foreign_user(const Node& node) const {
  return foreign_users.contains(process_of(node)) && std::ranges::any_of(history.twins(), [&](const auto& each) {
           return each.first == node.created || each.second == node.created;
         });
}

bool Evidence::is_given_up(const Node& node) const {
  const auto hold = holds.find(node.created);
  if (node.end != Node::End::by_owner || hold == holds.end()) return false;
  const std::int64_t releasing_at = hold->second.releasing_at == 0 ? INT64_MAX : hold->second.releasing_at;
  const auto stands = [](const Attempt* each) { return each->kind == "stand"; };
  return node.removed_at + bounds.clocks.count() < releasing_at && std::ranges::any_of(makers_of(node), stands);
}

std::int64_t Evidence::end_of_nodes(const Attempt& attempt) const {
  if (attempt.kind != "stand" || attempt.nodes.empty()) return attempt.when.end;
  const auto hold = holds.find(attempt.nodes.front());
  return hold == holds.end() || hold->second.releasing_at == 0 ? INT64_MAX : hold->second.releasing_at;
}

std::vector<const Attempt*> Evidence::makers_of(const Node& node) const {
  const std::string lock = lock_of(node.directory);
  const auto some = attempts.find({process_of(node), lock});
  if (some == attempts.end()) return {};
  const auto has_a_later_one = [&](const Attempt& attempt) {  // an attempt with a granted node makes no other
    return attempt.kind != "stand" && std::ranges::any_of(attempt.nodes, [&](std::int64_t token) {
             const Node* granted = history.find(token);
             return granted && token < node.created && lock_of(granted->directory) == lock;
           });
  };
  std::vector<const Attempt*> makers;
  const Attempt* last = nullptr;
  for (const Attempt& each : some->second) {
    if (each.when.begin > node.created_at + bounds.clocks.count()) break;
    if (std::ranges::find(each.nodes, node.created) != each.nodes.end()) return {&each};
    if (!may_make(each.kind, node) || has_a_later_one(each)) continue;
    if (end_of_nodes(each) >= node.created_at - bounds.clocks.count())
      makers.push_back(&each);
    else if (!last || each.when.end > last->when.end)
      last = &each;
  }
  if (makers.empty() && last) makers.push_back(last);
  return makers;
}

std::int64_t Evidence::node_of(const Record& record) const {
  const auto found = readers_beside.find({record.process, record.operation, record.token});
  return found == readers_beside.end() ? record.token : found->second;
}

std::tuple<int, std::int64_t, std::int64_t> Evidence::grant_of(const Record& record) const {
  return {record.process, record.operation, node_of(record)};
}

std::chrono::microseconds Evidence::stopped(int process, Interval when) const {
  const auto found = stops.find(process);
  return std::chrono::microseconds{found == stops.end() ? 0 : time_in(found->second, when)};
}

std::int64_t Evidence::after_stops(int process, std::int64_t from, std::int64_t limit, std::int64_t tolerance) const {
  if (const auto found = stops.find(process); found != stops.end())
    for (const Interval& each : found->second)
      if (each.begin <= limit && each.end >= from && each.end != INT64_MAX)
        limit = std::max(limit, each.end + tolerance);
  return limit;
}

std::int64_t Evidence::visible_at(std::int64_t time, int process) const {
  const bool quiet = is_quiet({time - bounds.session_timeout.count(), time}, process);
  return time - (quiet ? bounds.clocks : bounds.commit).count();
}

bool Evidence::is_quiet(Interval when, int process) const {
  return std::ranges::none_of(troubles, [&](const Trouble& each) {
    const bool concerns = each.process == 0 || each.process == process;
    return concerns && each.when.begin <= when.end && when.begin <= each.when.end;
  });
}

std::chrono::microseconds Evidence::quiet_time() const {
  if (users.empty()) return {};
  std::vector<Interval> all;
  for (const Trouble& each : troubles) all.push_back({each.when.begin, std::min(each.when.end, ends_at)});
  std::ranges::sort(all, {}, &Interval::begin);
  std::int64_t from = begins_at;
  std::int64_t sum = 0;
  for (const Interval& each : all) {
    sum += std::max<std::int64_t>(0, each.begin - from);
    from = std::max(from, each.end);
  }
  return std::chrono::microseconds{sum + std::max<std::int64_t>(0, ends_at - from)};
}

bool Evidence::is_too_long(int process, Interval when) const {
  const std::int64_t excused = std::max(stopped(process, when).count(), time_in(outages, when));
  const std::int64_t length = when.end - when.begin - excused;
  if (length <= bounds.handoff.count()) return false;
  const bool quiet = is_quiet(when, process) && !lost_link(process, when);
  const auto limit = quiet ? bounds.handoff : bounds.troubled_handoff;
  return length > limit.count() && length > (limit + 2 * lateness(when)).count();
}

bool Evidence::lost_link(int process, Interval when) const {
  std::int64_t before = 0;
  for (const Record& each : faults) {
    if (each.event != Event::measured || each.reason != "connections" || each.process != process) continue;
    if (each.at <= when.begin) before = each.number;
    if (each.at >= when.end) return each.number > before;
  }
  return false;
}

std::chrono::microseconds Evidence::lateness(Interval when) const {
  std::int64_t most = 0;
  for (const Record& each : late)
    if (each.at >= when.begin && each.at - each.number <= when.end) most = std::max(most, each.number);
  return std::chrono::microseconds{most};
}

Evidence collect_evidence(const std::filesystem::path& directory, const Bounds& bounds) {
  Evidence evidence;
  evidence.bounds = bounds;
  const auto transactions = merge_transactions(directory);
  evidence.history = History{transactions};
  evidence.lives = Lives{transactions};
  evidence.outages = outages_of(transactions);
  evidence.visits = read_log(directory / "register");
  evidence.faults = read_log(directory / "faults");
  for (const auto& entry : std::filesystem::directory_iterator{directory}) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("worker.")) continue;
    if (name.ends_with(".audit")) {
      std::ranges::move(read_audit(entry.path(), std::stoi(name.substr(7))), std::back_inserter(evidence.audit));
    } else if (name.ends_with(".follow")) {
      std::ranges::move(read_log(entry.path()), std::back_inserter(evidence.follows));
    } else if (name.find('.') == name.rfind('.')) {
      std::ranges::move(read_log(entry.path()), std::back_inserter(evidence.users));
    }
  }
  evidence.index();
  return evidence;
}

}  // namespace zklock::chaos

#include "evidence.hpp"

#include "register.hpp"

#include <algorithm>

namespace zklock::chaos {
namespace {

/// After it is over a fault is felt for a while: by sessions that have to come back, by who waits for their end.
constexpr std::int64_t aftermath = 4'000'000;

}  // namespace

void Evidence::index() {
  for (const Record& each : users) {
    if (each.event == Event::granted && Share{static_cast<int>(each.number)} == Share::with_readers)
      if (const Node* reader = history.beside(each.token))
        readers_beside[{each.process, each.operation, each.token}] = reader->created;
    const auto hold = holds.find(node_of(each));
    switch (each.event) {
      case Event::granted: holds[node_of(each)].granted = each; break;
      case Event::listens:
        if (hold != holds.end()) hold->second.listens_at = each.at;
        break;
      case Event::lost:
        if (hold != holds.end() && hold->second.lost_at == 0) hold->second.lost_at = each.at;
        break;
      case Event::released:
        if (hold == holds.end()) break;
        hold->second.released_at = each.at;
        hold->second.released_with = each.reason;
        break;
      case Event::late: late.push_back(each); break;
      case Event::drained: drained.insert(each.process); break;
      default: break;
    }
  }
  for (const Record& each : visits)
    if (const auto hold = holds.find(node_of(each)); hold != holds.end() && each.event == Event::left)
      hold->second.left_at = each.at;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> under_way;
  for (const Record& each : faults) {
    const auto process = static_cast<int>(each.number);
    const bool is_stop = each.reason.starts_with("client_paused");
    if (each.event == Event::fault) {
      if (each.reason == "node_deleted" || each.reason == "foreign_child") operators.insert(each.session);
      if (each.reason == "session_ended") ended_sessions.insert(each.session);
      if (each.reason == "client_killed") killed[process] = each.at;
      if (is_stop) stops[process].push_back({each.at});
      under_way[{each.reason, each.number}] = troubles.size();
      const bool lasts = each.reason != "node_deleted" && each.reason != "foreign_child" &&
                         each.reason != "session_ended" && each.reason != "link_cut_in_frame";
      troubles.push_back({each.at, lasts ? INT64_MAX : each.at + aftermath});
    } else if (each.event == Event::healed) {
      if (is_stop && !stops[process].empty()) stops[process].back().end = each.at;
      if (const auto begun = under_way.extract({each.reason, each.number}))
        troubles[begun.mapped()].end = each.at + aftermath;
    }
  }
}

std::int64_t Evidence::node_of(const Record& record) const {
  const auto found = readers_beside.find({record.process, record.operation, record.token});
  return found == readers_beside.end() ? record.token : found->second;
}

std::chrono::microseconds Evidence::stopped(int process, Interval when) const {
  std::int64_t sum = 0;
  if (const auto found = stops.find(process); found != stops.end())
    for (const Interval& each : found->second)
      sum += std::max<std::int64_t>(0, std::min(each.end, when.end) - std::max(each.begin, when.begin));
  return std::chrono::microseconds{sum};
}

bool Evidence::is_quiet(Interval when) const {
  return std::ranges::none_of(troubles,
                              [&](const Interval& each) { return each.begin <= when.end && when.begin <= each.end; });
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
    if (each.at >= when.begin && each.at - each.number * 1'000 <= when.end) most = std::max(most, each.number * 1'000);
  return std::chrono::microseconds{most};
}

Evidence collect_evidence(const std::filesystem::path& directory) {
  Evidence evidence;
  evidence.history = History{merge_transactions(directory)};
  evidence.visits = read_log(directory / "register");
  evidence.faults = read_log(directory / "faults");
  for (const auto& entry : std::filesystem::directory_iterator{directory}) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("worker.") || name.find('.') != name.rfind('.')) continue;
    const auto records = read_log(entry.path());
    evidence.users.insert(evidence.users.end(), records.begin(), records.end());
  }
  evidence.index();
  return evidence;
}

}  // namespace zklock::chaos

#include "report.hpp"

#include "judge.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <map>
#include <optional>
#include <span>
#include <sstream>

namespace zklock::chaos {
namespace {

constexpr std::size_t lines_shown = 60;
constexpr std::size_t times_shown = 40;

std::string first_lines(const std::string& text) {
  std::istringstream in{text};
  std::string result, line;
  for (std::size_t i = 0; i < lines_shown && std::getline(in, line); ++i) result += "      " + line + "\n";
  return result;
}

template <class Map>
std::string to_json(const Map& numbers) {
  std::ostringstream json;
  const char* separator = "";
  json << '{';
  for (const auto& [name, number] : numbers) {
    json << separator << '"' << name << "\": " << number;
    separator = ", ";
  }
  json << '}';
  return std::move(json).str();
}

std::string to_json(std::optional<double> number) {
  if (!number) return "null";
  std::ostringstream json;
  json << *number;
  return std::move(json).str();
}

/// How often the processes have noted what they keep, are shown, and count.
std::map<std::string, std::int64_t> tally_follows(const Evidence& evidence) {
  std::map<std::string, std::int64_t> all{{"keeps", 0}, {"shows", 0}, {"told", 0}, {"added", 0}};
  for (const Record& each : evidence.follows)
    if (const auto found = all.find(std::string{to_string(each.event)}); found != all.end()) ++found->second;
  return all;
}

/// What is left behind. At the servers it is the count of the server that reports the most; in the processes it is the
/// largest increase of any process since its start.
std::map<std::string, std::int64_t> leaks_of(const Evidence& evidence) {
  std::map<std::string, std::int64_t> leaks{{"watches", 0}, {"nodes", 0}, {"descriptors", 0}, {"threads", 0}};
  for (const Record& each : evidence.faults) {
    if (each.event != Event::measured) continue;
    if (each.reason == "zk_watch_count") leaks["watches"] += each.number;
    if (each.reason == "zk_ephemerals_count") leaks["nodes"] = std::max(leaks["nodes"], each.number);
  }
  for (const char* what : {"descriptors", "threads"}) {
    std::map<int, std::int64_t> first;
    for (const Record& each : evidence.users)
      if (each.event == Event::measured && each.reason == what)
        leaks[what] = std::max(leaks[what], each.number - first.emplace(each.process, each.number).first->second);
  }
  return leaks;
}

/// A line for each of the first ones, in the order of time.
std::vector<std::string> times_of(const Evidence& evidence, const std::vector<Violation>& found) {
  std::multimap<std::int64_t, std::string> sorted;
  for (const Violation& each : found) sorted.emplace(shown_at(evidence, each), each.what);
  std::vector<std::string> lines;
  for (const auto& [at, what] : sorted) {
    if (lines.size() == times_shown) {
      lines.push_back("and " + std::to_string(sorted.size() - times_shown) + " more");
      break;
    }
    std::ostringstream line;
    line << "after " << std::fixed << std::setprecision(1) << static_cast<double>(at - evidence.begins_at) / 1e6
         << " s: " << what;
    lines.push_back(std::move(line).str());
  }
  return lines;
}

}  // namespace

bool report(const CampaignOptions& options, const CampaignOutcome& outcome) {
  Bounds bounds;
  if (options.busy_machine) bounds.handoff = bounds.troubled_handoff;
  const Evidence evidence = collect_evidence(options.directory, bounds);
  std::map<std::string, std::size_t> violations;
  std::string first_of_each;
  std::printf("\n");
  for (const Invariant& each : invariants()) {
    const auto found = each.check(evidence);
    violations[std::string{each.name}] = found.size();
    std::printf("%-4s %6zu  %s\n", std::string{each.name}.c_str(), found.size(), std::string{each.sentence}.c_str());
    if (found.empty()) continue;
    const std::vector<std::string> times = times_of(evidence, found);
    for (const std::string& line : times) std::printf("     %s\n", line.c_str());
    first_of_each += "violated: " + std::string{each.name} + ", first " + times.front() + "\n";
    const auto some = std::span{found}.first(std::min<std::size_t>(found.size(), 20));
    std::vector<std::string> stories;
    for (const Violation& one : some) stories.push_back(tell(evidence, one));
    std::printf("%s", first_lines(std::ranges::min(stories, {}, &std::string::size)).c_str());
  }
  for (const Record& each : evidence.faults)
    if (each.event == Event::measured && each.reason.starts_with("zk_") && each.number != 0)
      std::printf("note: a server says that its %s is %lld\n", each.reason.c_str(),
                  static_cast<long long>(each.number));
  const auto strayed = std::ranges::count_if(evidence.faults, [](const Record& each) {
    return each.event == Event::fault && each.reason == "server_strayed";
  });
  if (strayed > 0) std::printf("note: %td servers had strayed from the others, and have begun anew\n", strayed);
  std::map<std::string, std::int64_t> asked, granted, asked_with_limit, granted_with_limit;
  for (const auto& [kind, tally] : tally_by_kind(evidence)) {
    asked[kind] = tally.asked;
    granted[kind] = tally.granted;
    asked_with_limit[kind] = tally.asked_with_limit;
    granted_with_limit[kind] = tally.granted_with_limit;
  }
  const auto acquisitions =
      std::ranges::count_if(evidence.visits, [](const Record& each) { return each.event == Event::entered; });
  std::ostringstream json;
  json << "{\n  \"seed\": " << options.seed << ",\n  \"seconds\": " << outcome.seconds
       << ",\n  \"acquisitions\": " << acquisitions << ",\n  \"faults\": " << to_json(outcome.faults)
       << ",\n  \"violations\": " << to_json(violations) << ",\n  \"strayed_servers\": " << strayed
       << ",\n  \"transactions_checked\": " << evidence.history.nodes().size() + evidence.history.marks().size()
       << ",\n  \"asked\": " << to_json(asked) << ",\n  \"granted\": " << to_json(granted)
       << ",\n  \"asked_with_limit\": " << to_json(asked_with_limit)
       << ",\n  \"granted_with_limit\": " << to_json(granted_with_limit)
       << ",\n  \"followed\": " << to_json(tally_follows(evidence))
       << ",\n  \"quiet_seconds\": " << std::chrono::duration<double>{evidence.quiet_time()}.count()
       << ",\n  \"max_handoff_ms\": " << longest_handoff(evidence)
       << ",\n  \"least_margin_ms\": " << to_json(least_margin(evidence))
       << ",\n  \"leaks\": " << to_json(leaks_of(evidence)) << "\n}\n";
  std::ofstream{options.directory / "results.json"} << json.str();
  std::printf("\n%s%s", json.str().c_str(), first_of_each.c_str());  // who reads the end alone reads what matters
  std::fflush(stdout);
  return first_of_each.empty();
}

}  // namespace zklock::chaos

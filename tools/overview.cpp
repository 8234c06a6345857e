#include "overview.hpp"

#include "duration.hpp"
#include "table.hpp"

#include <zklock/path.hpp>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace zklock::tools {
namespace {

std::string_view kind_of(const Line& line) {
  switch (line_of(line.front().node_path).value_or(LineKind::permit)) {
    case LineKind::mutex: return "mutex";
    case LineKind::read_write: return "read-write";
    case LineKind::kazoo: return "kazoo";
    case LineKind::permit: break;
  }
  return "semaphore";
}

std::string brief_name(const Participant& one) {
  if (!one.client_id.empty()) return one.client_id;
  return has_session(one) ? to_hexadecimal(one.session_id) : "nobody";
}

/// Lines of a semaphore are found by its path, below which they are.
using Semaphores = std::map<std::string, SemaphoreLines>;

Semaphores semaphores_of(const Survey& survey) {
  Semaphores result;
  for (const LockDirectory& directory : survey.directories)
    for (const Line& line : directory.lines)
      if (kind_of(line) == "semaphore") result[std::string{parent_path(directory.path)}].permits = line;
  for (const LockDirectory& directory : survey.directories) {
    const auto semaphore = result.find(std::string{parent_path(directory.path)});
    if (semaphore != result.end() && node_name(directory.path) == locks_name && !directory.lines.empty())
      semaphore->second.waiting = directory.lines.front();
  }
  return result;
}

Summary summarise(std::string path, std::string_view kind, const Line& line, const std::vector<bool>& granted,
                  std::chrono::system_clock::time_point now) {
  Summary summary{std::move(path), std::string{kind}, 0, 0, {}, {}};
  summary.holders = static_cast<std::size_t>(std::ranges::count(granted, true));
  summary.waiting = line.size() - summary.holders;
  const auto first = std::ranges::find(granted, true);
  if (first == granted.end()) return summary;
  const Participant& holder = line[static_cast<std::size_t>(first - granted.begin())];
  summary.holder = brief_name(holder);
  summary.since = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(now - holder.since),
                           std::chrono::milliseconds::zero());
  return summary;
}

Summary summarise(const std::string& path, const SemaphoreLines& semaphore, std::chrono::system_clock::time_point now) {
  Line permits = semaphore.permits;
  std::erase_if(permits, [&](const Participant& permit) { return !is_held_permit(semaphore, permit); });
  Summary summary = summarise(path, "semaphore", permits, std::vector<bool>(permits.size(), true), now);
  summary.waiting = semaphore.waiting.size();
  return summary;
}

}  // namespace

std::vector<Summary> summaries(const Survey& survey, std::chrono::system_clock::time_point now) {
  const Semaphores semaphores = semaphores_of(survey);
  std::vector<Summary> result;
  for (const auto& [path, semaphore] : semaphores) result.push_back(summarise(path, semaphore, now));
  for (const LockDirectory& directory : survey.directories)
    for (const Line& line : directory.lines)
      if (!semaphores.contains(std::string{parent_path(directory.path)}))
        result.push_back(summarise(directory.path, kind_of(line), line, holders(line), now));
  std::ranges::stable_sort(result, {}, &Summary::path);
  return result;
}

std::string to_table(const std::vector<Summary>& locks) {
  Table table{{"LOCK", "KIND", "HOLDERS", "WAITING", "AGE", "HOLDER"}};
  for (const Summary& one : locks)
    table.push_back({one.path, one.kind, std::to_string(one.holders), std::to_string(one.waiting),
                     one.holder.empty() ? "-" : format_age(one.since), one.holder.empty() ? "-" : one.holder});
  return to_text(table);
}

}  // namespace zklock::tools

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

std::string_view kind_of(const WaitQueue& queue) {
  switch (queue_kind_of(queue.front().node_path).value_or(QueueKind::permit)) {
    case QueueKind::mutex: return "mutex";
    case QueueKind::read_write: return "read-write";
    case QueueKind::kazoo: return "kazoo";
    case QueueKind::permit: break;
  }
  return "semaphore";
}

std::string brief_name(const LockParticipant& one) {
  if (!one.client_id.empty()) return one.client_id;
  return has_session(one) ? to_hexadecimal(one.session_id) : "nobody";
}

/// The queues of semaphores by the semaphore's path, below which they are.
using Semaphores = std::map<std::string, SemaphoreQueues>;

Semaphores semaphores_of(const Survey& survey) {
  Semaphores result;
  for (const LockDirectory& directory : survey.directories)
    for (const WaitQueue& queue : directory.queues)
      if (kind_of(queue) == "semaphore") result[std::string{parent_path(directory.path)}].permits = queue;
  for (const LockDirectory& directory : survey.directories) {
    const auto semaphore = result.find(std::string{parent_path(directory.path)});
    if (semaphore != result.end() && node_name(directory.path) == locks_name && !directory.queues.empty())
      semaphore->second.waiting = directory.queues.front();
  }
  return result;
}

Summary summarise(std::string path, std::string_view kind, const WaitQueue& queue, const std::vector<bool>& granted,
                  std::chrono::system_clock::time_point now) {
  Summary summary{std::move(path), std::string{kind}, 0, 0, {}, {}};
  summary.holders = static_cast<std::size_t>(std::ranges::count(granted, true));
  summary.waiting = queue.size() - summary.holders;
  const auto first = std::ranges::find(granted, true);
  if (first == granted.end()) return summary;
  const LockParticipant& holder = queue[static_cast<std::size_t>(first - granted.begin())];
  summary.holder = brief_name(holder);
  summary.since = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(now - holder.since),
                           std::chrono::milliseconds::zero());
  return summary;
}

Summary summarise(const std::string& path, const SemaphoreQueues& semaphore,
                  std::chrono::system_clock::time_point now) {
  WaitQueue permits = semaphore.permits;
  std::erase_if(permits, [&](const LockParticipant& permit) { return !is_held_permit(semaphore, permit); });
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
    for (const WaitQueue& queue : directory.queues)
      if (!semaphores.contains(std::string{parent_path(directory.path)}))
        result.push_back(summarise(directory.path, kind_of(queue), queue, holders(queue), now));
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

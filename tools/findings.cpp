#include "findings.hpp"

#include "counted.hpp"
#include "duration.hpp"
#include "printable.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/locks/lock_node.hpp>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace zklock::tools {
namespace {

/// This many numbers before the last one a finding is reported: early enough to act on it.
constexpr std::int32_t notice = 100'000'000;

/// "2026-11-21T15:18:27Z"
std::string to_utc(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

Finding describe_circle(const Circle& circle) {
  std::string what = counted(circle.size(), "client") + " wait for each other:";
  for (const Wait& wait : circle)
    what += (&wait == circle.data() ? " " : "; ") + name_of_client(wait.waiting) + " waits with " +
            wait.waiting.node_path + " for " + wait.ahead.node_path + " of " + name_of_client(wait.ahead);
  const std::string& node = circle.front().ahead.node_path;
  return {Severity::problem, "deadlock", node, std::move(what),
          "end one of these clients, or ask for one of the locks: zklock revoke " + shell_word(node)};
}

Finding describe_persistent(const LockParticipant& one) {
  return {Severity::problem, "persistent-node", one.node_path,
          one.kind == LockKind::permit ? "it takes a permit and belongs to no session: the permit never comes back"
                                       : "it is in the wait queue and belongs to no session: it stays when its maker "
                                         "is gone, and each waiter behind it "
                                         "waits for ever",
          "delete it, once you are sure that nobody relies on it"};
}

Finding describe_number(const LockParticipant& one) {
  const bool over = one.sequence < 0 || one.sequence > last_safe_sequence;
  return {Severity::problem, "sequence-end", one.node_path,
          over ? "the numbers of this lock's directory are used up: acquiring fails with sequence_exhausted"
               : "only " + std::to_string(last_safe_sequence - one.sequence) +
                     " numbers are left in this lock's directory; then acquiring fails with sequence_exhausted",
          "let the queue run empty and delete the directory, or let the server do so if it is a container: the numbers "
          "start again"};
}

/// The directories of a semaphore, which its permits are in, and the waiters for them.
bool is_of_semaphore(std::string_view name) { return name == locks_name || name == leases_name; }

/// `locks` alone may be a user's own directory.
bool has_semaphore(const LockDirectory& directory) {
  return std::ranges::find(directory.foreign, leases_name) != directory.foreign.end();
}

/// Whether there are locks of more than one kind, each with a holder of its own.
bool is_mixed(const LockDirectory& directory) {
  return directory.queues.size() > 1 || (!directory.queues.empty() && has_semaphore(directory));
}

Finding describe_mixture(const LockDirectory& directory) {
  std::string what = "locks that do not exclude each other are in use on one path, each with a holder of its own:";
  for (const WaitQueue& queue : directory.queues)
    what += (&queue == directory.queues.data() ? " " : "; ") + std::string{to_string(queue.front().kind)} +
            " held by " + name_of_client(queue.front()) + " with " + queue.front().node_path;
  if (has_semaphore(directory))
    what += "; a semaphore, whose permits are below " + join_path(directory.path, leases_name);
  return {
      Severity::problem, "mixed-locks", directory.path, std::move(what),
      "let all programs use one kind of lock on this path, and one make of names; delete nothing here: the locks and "
      "permits may be held"};
}

Finding describe_data(const LockParticipant& one) {
  return {Severity::note, "foreign-data", one.node_path,
          "its data are no client-id:count, as others' in its queue are: another program, or Curator",
          "nothing, if you know whose it is: " + printable(name_of_client(one))};
}

/// The part of a name by which Curator orders: what follows the marker, or all of it.
std::string_view curators_key(std::string_view name) {
  const auto kind = find_lock_marker(name);
  if (!kind) return name;
  const std::string_view marker = marker_of(*kind);
  return name.substr(name.rfind(marker) + marker.size());
}

/// The digits of the first node in the queue.
std::string_view first_number(const LockDirectory& directory) {
  if (directory.queues.empty()) return {};
  return curators_key(node_name(directory.queues.front().front().node_path));
}

std::string harm_to_curator(const LockDirectory& directory, const std::string& name) {
  return curators_key(name) < first_number(directory)
             ? "zklock passes it over, but for Curator's locks it is in front: they wait for ever"
             : "zklock passes it over, and so do Curator's locks as long as it sorts behind them";
}

Finding describe_name(const LockDirectory& directory, const std::string& name) {
  return {Severity::problem, "malformed-name", join_path(directory.path, name),
          "its name has a lock's marker, but no number as the server writes it: it excludes nobody; " +
              harm_to_curator(directory, name),
          "find the program that makes it: it may believe to hold a lock; then delete the node"};
}

Finding describe_foreign(const LockDirectory& directory, const std::string& name) {
  return {Severity::note, "foreign-child", join_path(directory.path, name),
          "it is in no lock's queue; " + harm_to_curator(directory, name),
          "keep other nodes out of a lock's directory: find the program that makes it, and have it use another path"};
}

std::chrono::milliseconds age_at(const LockParticipant& one, std::chrono::system_clock::time_point now) {
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - one.since);
  return std::max(age, age.zero());
}

std::string how_long(const LockParticipant& one, std::chrono::system_clock::time_point now) {
  return "in the wait queue since " + to_utc(one.since) + ", " + format_age(age_at(one, now)) + " ago";
}

Finding describe_stuck(const LockParticipant& first, const LockParticipant& next, std::size_t behind,
                       const Watched& watched) {
  return {Severity::problem, "stuck", first.node_path,
          counted(behind, "waiter") + " behind it, the next for " + format_age(age_at(next, watched.now)) +
              ", and nothing has moved for " + format_duration(watched.wait) + ": held by " + name_of_client(first) +
              (first.count == 0 ? "" : ", " + counted(first.count, "time")) + ", " + how_long(first, watched.now),
          "look what that client does, or ask for the lock: zklock revoke " + shell_word(first.node_path)};
}

/// The path of the semaphore whose wait queue is `directory`; empty if it is no such directory.
std::string semaphore_with_line(std::string_view directory) {
  return std::string{node_name(directory) == locks_name ? parent_path(directory) : ""};
}

Finding describe_wait(const std::string& semaphore, const LockParticipant& first, std::size_t behind,
                      const Watched& watched) {
  return {Severity::problem, "stuck", first.node_path,
          name_of_client(first) + " and " + counted(behind, "waiter") +
              " behind it want permits, and nothing has moved for " + format_duration(watched.wait) + "; " +
              how_long(first, watched.now),
          "look what those who hold the permits do (zklock ls " + shell_word(semaphore) +
              "), or ask for them: zklock revoke " + shell_word(semaphore)};
}

bool is_near_end(const LockParticipant& one) { return one.sequence < 0 || one.sequence > last_safe_sequence - notice; }

bool has_foreign_data(const LockParticipant& one) { return one.client_id.empty() && !one.revocation_requested; }

void add_oddities(std::vector<Finding>& findings, const WaitQueue& queue) {
  const bool all_foreign = std::ranges::all_of(queue, has_foreign_data);
  for (const LockParticipant& one : queue) {
    if (!has_session(one)) findings.push_back(describe_persistent(one));
    if (!all_foreign && has_foreign_data(one)) findings.push_back(describe_data(one));
  }
  const auto odd = std::ranges::find_if(queue, is_near_end);
  if (odd != queue.end()) findings.push_back(describe_number(*odd));
}

}  // namespace

std::string_view to_string(Severity severity) noexcept { return severity == Severity::problem ? "problem" : "note"; }

std::vector<Finding> find_circles(const std::vector<WaitQueue>& still_there) {
  std::vector<Finding> findings;
  std::ranges::transform(find_deadlocks(still_there), std::back_inserter(findings), describe_circle);
  return findings;
}

std::vector<Finding> find_stuck(const Survey& before, const std::vector<WaitQueue>& still_there,
                                const Watched& watched) {
  std::set<std::string_view> were_first;
  std::set<std::string_view> directories;
  for (const LockDirectory& directory : before.directories) {
    directories.insert(directory.path);
    for (const WaitQueue& queue : directory.queues) were_first.insert(queue.front().node_path);
  }
  const auto is_patient = [&](const LockParticipant& one) { return age_at(one, watched.now) < watched.stuck_after; };
  std::vector<Finding> findings;
  for (const WaitQueue& queue : still_there) {
    const LockParticipant& first = queue.front();
    if (!were_first.contains(first.node_path)) continue;
    const std::string semaphore = semaphore_with_line(parent_path(first.node_path));
    if (!semaphore.empty() && directories.contains(join_path(semaphore, leases_name))) {
      if (!is_patient(first)) findings.push_back(describe_wait(semaphore, first, queue.size() - 1, watched));
      continue;
    }
    const auto granted = holders(queue);
    const auto next = std::ranges::find(granted, false);
    if (next == granted.end()) continue;
    const LockParticipant& waiter = queue[static_cast<std::size_t>(next - granted.begin())];
    const auto behind = static_cast<std::size_t>(std::ranges::count(granted, false));
    if (!is_patient(waiter)) findings.push_back(describe_stuck(first, waiter, behind, watched));
  }
  return findings;
}

std::vector<Finding> find_oddities(const LockDirectory& directory) {
  std::vector<Finding> findings;
  for (const WaitQueue& queue : directory.queues) add_oddities(findings, queue);
  if (is_mixed(directory)) findings.push_back(describe_mixture(directory));
  for (const std::string& name : directory.malformed) findings.push_back(describe_name(directory, name));
  for (const std::string& name : directory.foreign)
    if (!is_of_semaphore(name)) findings.push_back(describe_foreign(directory, name));
  return findings;
}

std::vector<Finding> find_gaps(const Survey& survey) {
  std::vector<Finding> findings;
  for (const std::string& path : survey.unreadable)
    findings.push_back({Severity::note, "unreadable", path,
                        "it cannot be read as a lock: no permission, or no lock's path",
                        "look with a client that may read it"});
  if (survey.cut_off.empty()) return findings;
  findings.push_back({Severity::note, "cut-off", survey.cut_off.front(),
                      "the look ended here, and at " + counted(survey.cut_off.size() - 1, "other node") +
                          ": what is below was not seen",
                      "start at a path further down, or raise --max-nodes or --max-depth"});
  return findings;
}

std::vector<Finding> find_all(const Survey& before, const std::vector<WaitQueue>& still_there, const Survey& shown,
                              const Watched& watched) {
  std::vector<Finding> all = find_circles(still_there);
  const auto append = [&](std::vector<Finding> more) { std::ranges::move(more, std::back_inserter(all)); };
  if (watched.wait > watched.wait.zero()) append(find_stuck(before, still_there, watched));
  for (const LockDirectory& directory : shown.directories) append(find_oddities(directory));
  append(find_gaps(shown));
  std::ranges::stable_sort(all, {}, &Finding::severity);
  return all;
}

}  // namespace zklock::tools

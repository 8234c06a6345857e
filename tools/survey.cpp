#include "survey.hpp"

#include "board/queue_names.hpp"
#include "failure.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/flight.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <deque>
#include <future>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace zklock::tools {
namespace {

struct Children {
  error_code error;
  std::vector<std::string> names;
};

Children wait_for(std::future<ChildrenResult>& listing) {
  try {
    auto names = listing.get().names;
    std::ranges::sort(names);
    return {{}, std::move(names)};
  } catch (const boost::system::system_error& error) {
    if (error.code() != Error::no_node && error.code() != Error::no_auth) throw;
    return {error.code(), {}};
  }
}

/// A directory whose wait queues are still to be read.
struct Sorted {
  LockDirectory directory;
  std::set<QueueKind> kinds;  ///< the kinds of the queues
};

/// std::nullopt for a directory of something else; there a marker, as in "clock-tower", has no meaning.
std::optional<Sorted> sort_out(const std::string& path, const std::vector<std::string>& names) {
  SortedNames sorted = sort_names(path, names);
  if (!sorted.has_lock) return std::nullopt;
  Sorted result{{path, {}, std::move(sorted.malformed), std::move(sorted.foreign)}, {}};
  for (const auto& [kind, queue] : sorted.queues) result.kinds.insert(kind);
  return result;
}

class Walk {
 public:
  Walk(const ClientHandle& client, Bounds bounds) : client_{client}, bounds_{bounds} {}

  void start_at(const std::string& path) { enter({path, 0}); }

  Survey operator()() {
    while (!next_.empty()) fly();
    return std::move(survey_);
  }

 private:
  struct Stop {
    std::string path;
    std::size_t depth;
  };

  void enter(Stop stop) {
    if (stop.path != "/zookeeper" && seen_.insert(stop.path).second) next_.push_back(std::move(stop));
  }

  /// Lists the next nodes all at once, then reads the wait queues of those that are locks.
  void fly() {
    const auto left = std::max<std::size_t>(bounds_.nodes - std::min(read_, bounds_.nodes), 1);
    std::vector<std::pair<Stop, std::future<ChildrenResult>>> listings;
    for (; !next_.empty() && listings.size() < std::min(max_flight, left); next_.pop_front()) {
      auto listing = client_.async_get_children(next_.front().path, asio::use_future);
      listings.emplace_back(std::move(next_.front()), std::move(listing));
    }
    for (auto& [stop, listing] : listings) visit(stop, wait_for(listing));
    for (auto& [directory, queues] : pending_) read_lock(std::move(directory), queues);
    pending_.clear();
  }

  void visit(const Stop& stop, const Children& children) {
    if (read_ >= bounds_.nodes) return survey_.cut_off.push_back(stop.path);
    if (children.error == Error::no_node && stop.depth == 0)
      throw Failure{status::unavailable, "there is no node " + stop.path};
    if (children.error == Error::no_auth) survey_.unreadable.push_back(stop.path);
    read_ += 1 + children.names.size();
    if (auto sorted = sort_out(stop.path, children.names)) ask_for_lines(std::move(*sorted));
    go_down(stop, children.names);
  }

  void ask_for_lines(Sorted sorted) {
    try {
      PendingQueues queues{client_, sorted.directory.path, sorted.kinds};
      pending_.emplace_back(std::move(sorted.directory), std::move(queues));
    } catch (const boost::system::system_error& error) {
      if (error.code() != LockError::invalid_lock_path) throw;  // not a path for a lock of zklock, such as "/"
      survey_.unreadable.push_back(sorted.directory.path);
    }
  }

  void read_lock(LockDirectory directory, PendingQueues& queues) {
    try {
      directory.queues = queues.get();
      survey_.directories.push_back(std::move(directory));
    } catch (const boost::system::system_error& error) {
      if (error.code() != Error::no_auth) throw;
      survey_.unreadable.push_back(directory.path);
    }
  }

  void go_down(const Stop& stop, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (!may_be_directory(stop.path, name)) continue;
      if (stop.depth < bounds_.depth)
        enter({join_path(stop.path, name), stop.depth + 1});
      else if (survey_.cut_off.empty() || survey_.cut_off.back() != stop.path)
        survey_.cut_off.push_back(stop.path);
    }
  }

  const ClientHandle& client_;
  Bounds bounds_;
  std::deque<Stop> next_;
  std::set<std::string> seen_;
  std::size_t read_ = 0;
  std::vector<std::pair<LockDirectory, PendingQueues>> pending_;
  Survey survey_;
};

/// Whether the directory may have waiters; otherwise nothing can be stuck there.
bool somebody_may_wait(const LockDirectory& directory) {
  return node_name(directory.path) == locks_name ||
         std::ranges::any_of(directory.queues, [](const WaitQueue& queue) { return queue.size() > 1; });
}

std::set<QueueKind> kinds_of(const std::vector<WaitQueue>& queues) {
  std::set<QueueKind> kinds;
  for (const WaitQueue& queue : queues)
    kinds.insert(queue_kind_of(queue.front().node_path).value_or(QueueKind::permit));
  return kinds;
}

std::vector<WaitQueue> still_there(std::vector<WaitQueue> now, const std::vector<WaitQueue>& before) {
  std::set<std::string_view> old;
  for (const WaitQueue& queue : before)
    for (const LockParticipant& one : queue) old.insert(one.node_path);
  for (WaitQueue& queue : now)
    std::erase_if(queue, [&](const LockParticipant& one) { return !old.contains(one.node_path); });
  std::erase_if(now, [](const WaitQueue& queue) { return queue.empty(); });
  return now;
}

}  // namespace

Survey survey(const ClientHandle& client, const std::vector<std::string>& base_paths, Bounds bounds) {
  Walk walk{client, bounds};
  for (const std::string& path : base_paths) {
    validate_path(path);
    walk.start_at(path);
  }
  return walk();
}

std::vector<WaitQueue> look_again(const ClientHandle& client, const std::vector<LockDirectory>& directories) {
  std::vector<const LockDirectory*> waiting;
  for (const LockDirectory& directory : directories)
    if (somebody_may_wait(directory)) waiting.push_back(&directory);
  std::vector<WaitQueue> result;
  for (std::size_t first = 0; first < waiting.size(); first += max_flight) {
    const auto size = std::min(max_flight, waiting.size() - first);
    std::vector<PendingQueues> pending;
    for (const LockDirectory* directory : std::span{waiting}.subspan(first, size))
      pending.emplace_back(client, directory->path, kinds_of(directory->queues));
    for (std::size_t i = 0; i < size; ++i)
      for (WaitQueue& queue : still_there(pending[i].get(), waiting[first + i]->queues))
        result.push_back(std::move(queue));
  }
  return result;
}

}  // namespace zklock::tools

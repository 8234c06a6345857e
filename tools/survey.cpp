#include "survey.hpp"

#include "failure.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/lock_node.hpp>

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

/// How many nodes are asked for at once.
constexpr std::size_t flight = 200;

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

/// What an attempt's node is called: nobody names a directory so.
bool has_protection(std::string_view name) { return name.starts_with("_c_"); }

bool looks_like_lock_node(std::string_view name) {
  const auto kind = find_lock_marker(name);
  return kind && *kind != LockKind::permit;
}

/// Its lines are still to be read.
struct Sorted {
  LockDirectory directory;
  std::set<LineKind> kinds;  ///< of the lines
};

/// Nothing for a directory of something else; there a marker, as in "clock-tower", means nothing.
std::optional<Sorted> sort_out(const std::string& path, const std::vector<std::string>& names) {
  Sorted sorted{{path, {}, {}, {}}, {}};
  bool has_lock = false;
  for (const std::string& name : names) {
    const auto kind = line_of(join_path(path, name));
    const bool looks_like_one = looks_like_lock_node(name);
    has_lock = has_lock || kind || (looks_like_one && has_protection(name));
    if (kind)
      sorted.kinds.insert(*kind);
    else
      (looks_like_one ? sorted.directory.malformed : sorted.directory.foreign).push_back(name);
  }
  if (!has_lock) return std::nullopt;
  return sorted;
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

  /// Lists the next ones all at once, then reads the lines of those that are locks.
  void fly() {
    const auto left = std::max<std::size_t>(bounds_.nodes - std::min(read_, bounds_.nodes), 1);
    std::vector<std::pair<Stop, std::future<ChildrenResult>>> listings;
    for (; !next_.empty() && listings.size() < std::min(flight, left); next_.pop_front()) {
      auto listing = client_.async_get_children(next_.front().path, asio::use_future);
      listings.emplace_back(std::move(next_.front()), std::move(listing));
    }
    for (auto& [stop, listing] : listings) visit(stop, wait_for(listing));
    for (auto& [directory, lines] : pending_) read_lock(std::move(directory), lines);
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
      PendingLines lines{client_, sorted.directory.path, sorted.kinds};
      pending_.emplace_back(std::move(sorted.directory), std::move(lines));
    } catch (const boost::system::system_error& error) {
      if (error.code() != Error::invalid_lock_path) throw;  // no path for a lock of ours, such as "/"
      survey_.unreadable.push_back(sorted.directory.path);
    }
  }

  void read_lock(LockDirectory directory, PendingLines& lines) {
    try {
      directory.lines = lines.get();
      if (!directory.lines.empty() && directory.lines.back().front().kind == LockKind::permit) {
        directory.malformed.clear();  // among the permits each child counts, and is in the line
        directory.foreign.clear();
      }
      survey_.directories.push_back(std::move(directory));
    } catch (const boost::system::system_error& error) {
      if (error.code() != Error::no_auth) throw;
      survey_.unreadable.push_back(directory.path);
    }
  }

  void go_down(const Stop& stop, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (line_of(join_path(stop.path, name)) || has_protection(name)) continue;
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
  std::vector<std::pair<LockDirectory, PendingLines>> pending_;
  Survey survey_;
};

/// Where nobody does, nothing is ever stuck.
bool somebody_may_wait(const LockDirectory& directory) {
  return node_name(directory.path) == locks_name ||
         std::ranges::any_of(directory.lines, [](const Line& line) { return line.size() > 1; });
}

std::set<LineKind> kinds_of(const std::vector<Line>& lines) {
  std::set<LineKind> kinds;
  for (const Line& line : lines) kinds.insert(line_of(line.front().node_path).value_or(LineKind::permit));
  return kinds;
}

std::vector<Line> still_there(std::vector<Line> now, const std::vector<Line>& before) {
  std::set<std::string_view> old;
  for (const Line& line : before)
    for (const Participant& one : line) old.insert(one.node_path);
  for (Line& line : now) std::erase_if(line, [&](const Participant& one) { return !old.contains(one.node_path); });
  std::erase_if(now, [](const Line& line) { return line.empty(); });
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

std::vector<Line> look_again(const ClientHandle& client, const std::vector<LockDirectory>& directories) {
  std::vector<const LockDirectory*> waiting;
  for (const LockDirectory& directory : directories)
    if (somebody_may_wait(directory)) waiting.push_back(&directory);
  std::vector<Line> result;
  for (std::size_t first = 0; first < waiting.size(); first += flight) {
    const auto size = std::min(flight, waiting.size() - first);
    std::vector<PendingLines> pending;
    for (const LockDirectory* directory : std::span{waiting}.subspan(first, size))
      pending.emplace_back(client, directory->path, kinds_of(directory->lines));
    for (std::size_t i = 0; i < size; ++i)
      for (Line& line : still_there(pending[i].get(), waiting[first + i]->lines)) result.push_back(std::move(line));
  }
  return result;
}

}  // namespace zklock::tools

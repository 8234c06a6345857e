#include "survey.hpp"

#include "failure.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/lock_node.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>

namespace zklock::tools {
namespace {

struct Children {
  error_code error;
  std::vector<std::string> names;
};

Children children_of(const ClientHandle& client, const std::string& path) {
  try {
    auto names = client.async_get_children(path, asio::use_future).get().names;
    std::ranges::sort(names);
    return {{}, std::move(names)};
  } catch (const boost::system::system_error& error) {
    if (error.code() != Error::no_node && error.code() != Error::no_auth) throw;
    return {error.code(), {}};
  }
}

/// What an attempt's node is called: nobody names a directory so.
bool has_protection(std::string_view name) { return name.starts_with("_c_"); }

/// A permit's name means something among permits only; elsewhere it may be anything, such as a release.
bool is_lock_node(const std::string& directory, std::string_view name) {
  const auto node = parse_lock_node(name);
  return node && (node->kind != LockKind::permit || node_name(directory) == leases_name);
}

bool looks_like_lock_node(std::string_view name) {
  const auto kind = find_lock_marker(name);
  return kind && *kind != LockKind::permit;
}

/// Its lines are still to be read. Nothing for a directory of something else; there a marker, as in "clock-tower",
/// means nothing.
std::optional<LockDirectory> sort_out(const std::string& path, const std::vector<std::string>& names) {
  LockDirectory directory{path, {}, {}, {}};
  bool has_lock = false;
  for (const std::string& name : names) {
    const bool is_node = is_lock_node(path, name);
    const bool looks_like_one = looks_like_lock_node(name);
    has_lock = has_lock || is_node || (looks_like_one && has_protection(name));
    if (!is_node) (looks_like_one ? directory.malformed : directory.foreign).push_back(name);
  }
  if (!has_lock) return std::nullopt;
  return directory;
}

class Walk {
 public:
  Walk(const ClientHandle& client, Bounds bounds) : client_{client}, bounds_{bounds} {}

  void start_at(const std::string& path) { enter({path, 0}); }

  Survey operator()() {
    for (; !next_.empty(); next_.pop_front()) visit(next_.front());
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

  void visit(const Stop& stop) {
    if (read_ >= bounds_.nodes) return survey_.cut_off.push_back(stop.path);
    const Children children = children_of(client_, stop.path);
    if (children.error == Error::no_node && stop.depth == 0)
      throw Failure{status::unavailable, "there is no node " + stop.path};
    if (children.error == Error::no_auth) survey_.unreadable.push_back(stop.path);
    read_ += 1 + children.names.size();
    if (auto directory = sort_out(stop.path, children.names)) read_lock(std::move(*directory));
    go_down(stop, children.names);
  }

  void read_lock(LockDirectory directory) {
    try {
      directory.lines = read_lines(client_, directory.path);
      if (!directory.lines.empty() && directory.lines.back().front().kind == LockKind::permit) {
        directory.malformed.clear();  // among the permits each child counts, and is in the line
        directory.foreign.clear();
      }
      survey_.directories.push_back(std::move(directory));
    } catch (const boost::system::system_error& error) {
      // Not readable; or no path for a lock of ours, such as "/".
      if (error.code() != Error::no_auth && error.code() != Error::invalid_lock_path) throw;
      survey_.unreadable.push_back(directory.path);
    }
  }

  void go_down(const Stop& stop, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (is_lock_node(stop.path, name) || has_protection(name)) continue;
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
  Survey survey_;
};

std::set<std::string> node_paths(const std::vector<Line>& lines) {
  std::set<std::string> result;
  for (const Line& line : lines)
    for (const Participant& one : line) result.insert(one.node_path);
  return result;
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
  std::vector<Line> result;
  for (const LockDirectory& directory : directories) {
    const auto before = node_paths(directory.lines);
    for (Line& line : read_lines(client, directory.path)) {
      std::erase_if(line, [&](const Participant& one) { return !before.contains(one.node_path); });
      if (!line.empty()) result.push_back(std::move(line));
    }
  }
  return result;
}

}  // namespace zklock::tools

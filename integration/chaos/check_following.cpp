// I19: what is shown of the tree and of the counts.
#include "followings.hpp"
#include "judge.hpp"
#include "layout.hpp"
#include "shown.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace zklock::chaos {
namespace {

/// The transaction that has written a node's data; 0: there is no node.
using Written = std::int64_t;

std::vector<Moment<Written>> moments_of(const std::vector<Life>& lives) {
  std::vector<Moment<Written>> moments{{}};
  for (const Life& life : lives) {
    for (const Version& each : life.versions) moments.push_back({each.at, each.zxid});
    if (life.removed != INT64_MAX) moments.push_back({life.removed_at, 0});
  }
  return moments;
}

bool is_node_event(const Record& record) {
  return record.event == Event::told &&
         (record.reason == "created" || record.reason == "changed" || record.reason == "deleted");
}

class FollowingCheck {
 public:
  FollowingCheck(const Evidence& evidence, const Following& following, const std::vector<Interval>& troubles,
                 const std::vector<Interval>& strayed)
      : evidence_{evidence}, following_{following}, troubles_{troubles}, strayed_{strayed} {}

  std::vector<Violation> run() {
    find_strange_events();
    if (const auto begin = begin_of_view())
      compare(*begin);
    else if (evidence_.is_too_long(following_.process, following_.when))
      add("nothing was shown", following_.when.end, following_.path);
    if (following_.path == tree_root) find_early_live();
    if (following_.path == tree_root && following_.is_last && evidence_.drained.contains(following_.process))
      check_end();
    return std::move(found_);
  }

 private:
  void add(const std::string& what, std::int64_t at, const std::string& path) {
    found_.push_back({what + ": " + path, {}, following_.process, 0, at, path});
  }

  void find_strange_events() {
    for (const Record& each : following_.records)
      if (each.event == Event::told && (each.reason == "reset" || each.reason == "unreadable"))
        add("a node was told to be " + each.reason, each.at, each.lock);
  }

  /// When all that was there in the beginning was told.
  [[nodiscard]] std::optional<std::int64_t> begin_of_view() {
    for (const Record& each : following_.records)
      if (each.event == Event::told && (each.reason == "initialized" || following_.path != tree_root)) {
        if (evidence_.is_too_long(following_.process, {following_.when.begin, each.at}))
          add("nothing was shown for too long", each.at, following_.path);
        return each.at;
      }
    return std::nullopt;
  }

  void compare(std::int64_t begin) {
    std::map<std::string, std::vector<Moment<Written>>> shown;
    for (const auto& [path, lives] : evidence_.lives.all())
      if (is_at_or_below(path, following_.path)) shown[path] = {{begin, 0}};
    for (const Record& each : following_.records) {
      if (!is_node_event(each)) continue;
      auto& all = shown.try_emplace(each.lock, std::vector<Moment<Written>>{{begin, 0}}).first->second;
      const Written written = each.reason == "deleted" ? 0 : each.token;
      each.at <= begin ? void(all.front().state = written) : all.push_back({each.at, written});
    }
    for (const auto& [path, all] : shown)
      if (const auto wrong = find_misshown(evidence_, following_.process, moments_of(evidence_.lives.of(path)), all,
                                           strayed_, following_.when.end))
        add(wrong->what, wrong->at, path);
  }

  /// When what was told has happened.
  [[nodiscard]] std::optional<std::int64_t> time_of(const Record& told) const {
    std::optional<std::int64_t> at;
    for (const Life& life : evidence_.lives.of(told.lock)) {
      if (told.reason == "deleted" && life.removed_at <= told.at) at = life.removed_at;
      if (told.reason == "deleted") continue;
      for (const Version& each : life.versions)
        if (each.zxid == told.token) at = each.at;
    }
    return at;
  }

  /// `live` is told once all is known that had happened before the connection was made.
  void find_early_live() {
    std::int64_t without_link_at = 0;
    for (const Record& each : following_.records) {
      if (each.event != Event::told) continue;
      if (each.reason == "live" || each.reason == "stale") without_link_at = each.reason == "live" ? each.number : 0;
      if (without_link_at == 0 || !is_node_event(each)) continue;
      const auto at = time_of(each);
      const bool is_early = at && *at < evidence_.visible_at(without_link_at, each.process);
      const bool is_excused = at && std::ranges::any_of(troubles_, [&](const Interval& trouble) {
                                return trouble.begin <= each.at && *at <= trouble.end;
                              });
      if (is_early && !is_excused) add("`live` was told before what had happened without a link", each.at, each.lock);
    }
  }

  /// Nothing changes any more.
  void check_end() {
    const Record* looks = following_.first(Event::looks);
    const Record* held = following_.first(Event::held);
    if (!looks || !held || held->reason != "ok")
      return add("the last state was not shown in time", following_.when.end, following_.path);
    std::map<std::string, Written> shown;
    for (const auto& [path, lives] : evidence_.lives.all())
      if (is_at_or_below(path, tree_root)) shown[path] = 0;
    for (const Record& each : following_.records)
      if (each.event == Event::holds) shown[each.lock] = each.token;
    for (const auto& [path, written] : shown) {
      const auto moments = moments_of(evidence_.lives.of(path));
      bool was_so = false;
      for (auto each = moments.begin(); each != moments.end(); ++each) {
        const std::int64_t end = std::next(each) == moments.end() ? INT64_MAX : std::next(each)->at;
        was_so = was_so || (each->state == written && each->at <= held->at && end >= looks->at);
      }
      if (!was_so) add("the last state that is shown is not the servers'", held->at, path);
    }
  }

  const Evidence& evidence_;
  const Following& following_;
  const std::vector<Interval>& troubles_;
  const std::vector<Interval>& strayed_;
  std::vector<Violation> found_{};
};

}  // namespace

std::vector<Violation> check_following(const Evidence& evidence) {
  std::vector<Violation> found;
  const auto troubles = times_of_stale_servers(evidence);
  const auto strayed = times_of_strayed_servers(evidence);
  std::set<int> followers;
  for (const Following& each : followings_of(evidence, Event::follows, Event::unfollows)) {
    followers.insert(each.process);
    if (each.path != group_root && !each.path.starts_with(locks))
      std::ranges::move(FollowingCheck{evidence, each, troubles, strayed}.run(), std::back_inserter(found));
  }
  if (followers.empty()) return found;
  for (const int process : evidence.drained)
    if (!followers.contains(process) && !evidence.foreign_users.contains(process))
      found.push_back({"a process has followed nothing", {}, process});
  return found;
}

}  // namespace zklock::chaos

// I18, without the groups' views (check_groups.cpp): the nodes that are kept.
#include "followings.hpp"
#include "judge.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace zklock::chaos {
namespace {

bool is_present(const Record& claim) { return claim.event == Event::claims && claim.reason == "present"; }

class PresenceCheck {
 public:
  PresenceCheck(const Evidence& evidence, const Following& kept)
      : evidence_{evidence}, kept_{kept}, lives_{evidence.lives.of(kept.path)} {
    const Record* closes = kept.first(Event::closes);
    until_ = closes ? closes->at : kept.when.end;
  }

  std::vector<Violation> run() {
    find_gaps();
    find_wrong_claims();
    check_close();
    if (kept_.is_last && evidence_.drained.contains(kept_.process)) check_end();
    return std::move(found_);
  }

 private:
  void add(std::string what, std::int64_t at) {
    found_.push_back({what + ": " + kept_.path, {}, kept_.process, 0, at, kept_.path});
  }

  [[nodiscard]] static std::string text_of(const Interval& when) {
    return std::to_string((when.end - when.begin) / 1'000) + " ms";
  }

  void check_gap(const Interval& gap) {
    if (gap.end > gap.begin && evidence_.is_too_long(kept_.process, gap))
      add("a node was missing for " + text_of(gap), gap.end);
  }

  /// Whose node is there does not matter: another client's is waited for.
  void find_gaps() {
    std::int64_t from = kept_.when.begin;
    for (const Life& each : lives_) {
      check_gap({from, std::min(each.created_at(), until_)});
      from = std::max(from, each.removed_at);
    }
    check_gap({from, until_});
  }

  /// The state may be a moment older than the session that the client has.
  void find_wrong_claims() {
    const auto& all = kept_.records;
    for (auto first = all.begin(); first != all.end();) {
      const auto is_other = [&](const Record& each) {
        return each.event == Event::claims &&
               (each.token != first->token || each.session != first->session || each.reason != first->reason);
      };
      const auto next = std::find_if(first, all.end(), is_other);
      if (is_present(*first)) check_claim(*first, *std::prev(next));
      first = next == first ? std::next(first) : next;
    }
  }

  void check_claim(const Record& first, const Record& last) {
    const Life* life = evidence_.lives.find(kept_.path, first.token);
    if (!life) return add("a node was said to be there that never was", first.at);
    const Interval when{first.at, last.at};
    const auto length = when.end - when.begin - evidence_.stopped(kept_.process, when).count();
    if (life->owner != first.session && length > (evidence_.bounds.tolerance + 2 * evidence_.lateness(when)).count())
      add("another session's node was taken for the own one for " + text_of(when), last.at);
  }

  void check_close() {
    const Record* closed = kept_.first(Event::closed);
    if (!closed) return;
    if (closed->reason != "ok") add("a close has ended with " + closed->reason, closed->at);
    for (const Life& each : lives_) {
      const bool is_own = each.versions.front().data.starts_with("worker-" + std::to_string(kept_.process) + ":");
      if (!is_own || each.removed_at <= closed->at) continue;
      Interval stay{closed->at, std::min({each.removed_at, evidence_.killed_at(kept_.process), end_of_log()})};
      if (each.came_late)
        stay = {end_of_looks(each, closed->at), std::min(stay.end, kept_again(closed->at))};
      else if (each.created_at() > closed->at)
        continue;
      if (stay.begin < stay.end && evidence_.is_too_long(kept_.process, stay))
        add("a node stayed for " + text_of(stay) + " after it was closed", stay.end);
    }
  }

  /// For a session timeout the client looks for a node that a leader has made late. One that comes yet later stays.
  [[nodiscard]] std::int64_t end_of_looks(const Life& late, std::int64_t closed) const {
    const std::int64_t looks = evidence_.bounds.session_timeout.count();
    return late.created_at() > closed + looks ? INT64_MAX : closed + looks;
  }

  /// When the process keeps a node at the path again, and may take a late one for it.
  [[nodiscard]] std::int64_t kept_again(std::int64_t closed) const {
    const auto found = std::ranges::find_if(evidence_.follows, [&](const Record& each) {
      return each.event == Event::keeps && each.process == kept_.process && each.lock == kept_.path &&
             each.at >= closed;
    });
    return found == evidence_.follows.end() ? INT64_MAX : found->at;
  }

  [[nodiscard]] std::int64_t end_of_log() const { return std::max(evidence_.ends_at, kept_.when.end); }

  void check_end() {
    const Record* claim = kept_.last(Event::claims);
    const Record* wish = kept_.last(Event::wishes);
    if (!claim || !is_present(*claim)) return add("a node was not there at the end", until_);
    const Life* life = evidence_.lives.find(kept_.path, claim->token);
    if (!life) return;  // reported above
    const bool is_gone = life->removed_at < until_ && evidence_.is_too_long(kept_.process, {life->removed_at, until_});
    const Interval before{until_ - evidence_.bounds.session_timeout.count(), until_};
    const bool is_quiet = evidence_.is_quiet(before, kept_.process) && !evidence_.lost_link(kept_.process, before);
    if (is_gone) add("a node was said to be there at the end", until_);
    if (is_quiet && life->owner != claim->session) add("a node was another session's at the end", until_);
    if (!wish || data_at(*life, until_) != wish->reason) add("a node had not its last data at the end", until_);
  }

  [[nodiscard]] static std::string data_at(const Life& life, std::int64_t at) {
    const auto later = std::ranges::upper_bound(life.versions, at, {}, &Version::at);
    return later == life.versions.begin() ? std::string{} : std::prev(later)->data;
  }

  const Evidence& evidence_;
  const Following& kept_;
  const std::vector<Life>& lives_;
  std::int64_t until_ = 0;
  std::vector<Violation> found_{};
};

}  // namespace

std::vector<Violation> check_presence(const Evidence& evidence) {
  std::vector<Violation> found = find_misshown_groups(evidence);
  for (const Following& each : followings_of(evidence, Event::keeps, Event::closed))
    std::ranges::move(PresenceCheck{evidence, each}.run(), std::back_inserter(found));
  return found;
}

}  // namespace zklock::chaos

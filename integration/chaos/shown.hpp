// What a process shows of the servers' state, compared with what it was.
#pragma once

#include "evidence.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace zklock::chaos {

/// A state from that time on, until that of the next moment.
template <class State>
struct Moment {
  std::int64_t at = 0;
  State state{};
  /// Of what is shown as live: a time at which there was no link yet; what had happened by then is shown. 0: unknown.
  std::int64_t not_before = 0;
};

struct Misshown {
  std::string what{};
  std::int64_t at = 0;
};

/// A stretch of that time, too long, in which that state was shown although there was another one.
template <class State>
std::optional<Interval> find_overdue(const Evidence& evidence, int process, const std::vector<Moment<State>>& truth,
                                     const State& state, Interval when) {
  const auto next_of = [&](auto moment) { return std::next(moment) == truth.end() ? when.end : std::next(moment)->at; };
  std::int64_t right_at = when.begin;  // for the last time
  auto each = std::ranges::upper_bound(truth, when.begin, {}, &Moment<State>::at);
  if (each != truth.begin()) --each;
  for (; each != truth.end() && each->at < when.end; ++each) {
    const std::int64_t end = std::min(next_of(each), when.end);
    if (each->state == state)
      right_at = std::max(right_at, end);
    else if (end > right_at && evidence.is_too_long(process, {right_at, end}))
      return Interval{right_at, end};
  }
  return std::nullopt;
}

/// `truth` is what was, in the order of the transactions, from the beginning; `shown` is what the process has shown, in
/// its order, and the last of it until `until`. Each state that is shown was there at a moment, and no moment comes
/// before that of the state shown before; and none is shown for too long while there is another one. What is shown as
/// live was not over when there was no link yet. A state that is shown in `strayed` times may be any; if it is wrong, it
/// is not shown for too long after them.
template <class State>
std::optional<Misshown> find_misshown(const Evidence& evidence, int process, const std::vector<Moment<State>>& truth,
                                      const std::vector<Moment<State>>& shown, const std::vector<Interval>& strayed,
                                      std::int64_t until) {
  const auto strayed_until = [&](const Moment<State>& moment) {
    std::int64_t last = 0;
    for (const Interval& each : strayed)
      if (each.begin <= moment.at && moment.at <= each.end) last = std::max(last, each.end);
    return last;
  };
  auto from = truth.begin();
  for (auto each = shown.begin(); each != shown.end(); ++each) {
    const auto is_it = [&, latest = each->at + evidence.bounds.clocks.count()](const Moment<State>& moment) {
      return moment.at <= latest && moment.state == each->state;
    };
    const auto was_over = [&, earliest = each->not_before](auto moment) {
      return std::next(moment) != truth.end() && std::next(moment)->at < earliest;
    };
    const std::int64_t proves_from = std::max(each->at, strayed_until(*each));
    if (proves_from == each->at) {
      const auto first = std::find_if(from, truth.end(), is_it);
      if (first == truth.end())
        return Misshown{
            std::any_of(truth.begin(), from, is_it) ? "what is shown has gone back" : "what is shown never was",
            each->at};
      from = first;
      while (from != truth.end() && was_over(from)) from = std::find_if(std::next(from), truth.end(), is_it);
      if (from == truth.end()) return Misshown{"what is shown as live was over before there was a link", each->at};
    }
    if (each != shown.begin() && std::prev(each)->state == each->state) continue;
    const auto other = [&](const Moment<State>& later) { return later.state != each->state; };
    const auto next = std::find_if(each, shown.end(), other);
    if (const auto overdue =
            find_overdue(evidence, process, truth, each->state, {proves_from, next == shown.end() ? until : next->at}))
      return Misshown{"what is shown was over for " + std::to_string((overdue->end - overdue->begin) / 1'000) + " ms",
                      overdue->end};
  }
  return std::nullopt;
}

}  // namespace zklock::chaos

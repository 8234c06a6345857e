#include "accept.hpp"

#include <algorithm>
#include <iterator>

namespace zklock {

namespace {

/// Counts of the servers stick or wrap near their limit [F26]: less than nothing is nothing.
std::int64_t not_negative(std::int64_t count) { return std::max<std::int64_t>(count, 0); }

Accepted accept_incarnation(const std::optional<Stat>& before, const std::optional<Stat>& now) {
  if (!before && !now) return {};
  if (!now) return {Change::gone};
  if (!before) return {Change::created};
  if (before->czxid == now->czxid) return {};
  return {Change::new_incarnation, 0, now->czxid < before->czxid};
}

std::vector<std::string> minus(const std::vector<std::string>& from, const std::vector<std::string>& what) {
  std::vector<std::string> rest;
  std::set_difference(from.begin(), from.end(), what.begin(), what.end(), std::back_inserter(rest));
  return rest;
}

std::optional<Stat> stat_of(const std::optional<Listing>& listing) {
  return listing ? std::optional{listing->stat} : std::nullopt;
}

}  // namespace

Accepted accept(const std::optional<Stat>& before, const std::optional<Stat>& now) {
  Accepted accepted = accept_incarnation(before, now);
  switch (accepted.change) {
    case Change::created:
    case Change::new_incarnation: accepted.skipped = not_negative(now->version); break;
    case Change::same:
      if (!now || before->mzxid == now->mzxid) break;
      accepted.change = Change::changed;
      accepted.went_back = now->mzxid < before->mzxid;
      accepted.skipped = not_negative(std::int64_t{now->version} - before->version - 1);
      break;
    case Change::changed:
    case Change::gone: break;
  }
  return accepted;
}

ListChange accept(const std::optional<Listing>& before, const std::optional<Listing>& now) {
  ListChange change{.node = accept_incarnation(stat_of(before), stat_of(now))};
  if (change.node.change == Change::same) {
    if (!now) return change;
    change.node.went_back = now->stat.pzxid < before->stat.pzxid;
    change.added = minus(now->names, before->names);
    change.removed = minus(before->names, now->names);
    const auto seen = static_cast<std::int64_t>(change.added.size() + change.removed.size());
    change.unseen = not_negative((std::int64_t{now->stat.cversion} - before->stat.cversion - seen) / 2);
    return change;
  }
  if (before) change.removed = before->names;
  if (!now) return change;
  change.added = now->names;
  change.unseen = not_negative((now->stat.cversion - static_cast<std::int64_t>(now->names.size())) / 2);
  return change;
}

}  // namespace zklock

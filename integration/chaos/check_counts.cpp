// I20: who has written which version of a count.
#include "judge.hpp"
#include "layout.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zklock::chaos {
namespace {

/// A compare-and-set, from its call to its outcome.
struct Addition {
  Record begun{};
  std::optional<Record> ended{};

  [[nodiscard]] bool has_succeeded() const { return ended && ended->reason == "ok"; }
  /// It has failed in a way that does not say whether the value was set, or its process was killed before it said.
  [[nodiscard]] bool is_unknown() const { return !ended || (ended->reason != "ok" && ended->reason != "no"); }
};

std::vector<Addition> additions_of(const Evidence& evidence) {
  std::map<std::pair<int, std::int64_t>, Addition> all;
  for (const Record& each : evidence.follows) {
    if (each.event == Event::adds) all[{each.process, each.operation}].begun = each;
    if (each.event == Event::added) all[{each.process, each.operation}].ended = each;
  }
  std::vector<Addition> additions;
  for (auto& [key, each] : all) additions.push_back(std::move(each));
  return additions;
}

/// As SharedCount writes it, by itself: the judge believes nothing that the library says.
std::optional<std::int64_t> value_of(const std::string& data) {
  if (data.size() != 4) return std::nullopt;
  std::uint32_t value = 0;
  for (const char byte : data) value = value << 8 | static_cast<unsigned char>(byte);
  return static_cast<std::int32_t>(value);
}

class CountCheck {
 public:
  CountCheck(const Evidence& evidence, const std::string& path, const std::vector<Life>& lives)
      : evidence_{evidence}, path_{path}, versions_{lives.front().versions} {
    if (lives.size() > 1 || lives.front().removed != INT64_MAX)
      add("a count was deleted", {.at = lives.front().removed_at});
  }

  std::vector<Violation> run(const std::vector<Addition>& additions) {
    authors_.resize(versions_.size());
    for (const Addition& each : additions)
      if (each.begun.lock == path_ && each.has_succeeded()) check_success(each);
    for (const Addition& each : additions)
      if (each.begun.lock == path_ && each.is_unknown()) explain(each);
    for (std::size_t version = 1; version < versions_.size(); ++version) check_version(version);
    return std::move(found_);
  }

 private:
  void add(const std::string& what, const Record& record) {
    found_.push_back({what + ": " + path_, {}, record.process, 0, record.at, path_});
  }

  void check_success(const Addition& addition) {
    const Record& ended = *addition.ended;
    const auto version = static_cast<std::size_t>(ended.number);
    if (version == 0 || version >= versions_.size() || versions_[version].zxid != ended.token)
      return add("a success was told that the servers do not know", ended);
    if (ended.number != addition.begun.number + 1)
      return add("a value was set over another version than it was compared with", ended);
    if (value_of(versions_[version].data) != addition.begun.token) add("another value was set than was asked", ended);
    if (authors_[version]) add("two successes are one write", ended);
    authors_[version] = &addition;
  }

  /// An attempt of unknown outcome writes the next version, or none.
  void explain(const Addition& addition) {
    const auto version = static_cast<std::size_t>(addition.begun.number + 1);
    const bool is_it = version < versions_.size() && !authors_[version] &&
                       versions_[version].at >= addition.begun.at - evidence_.bounds.clocks.count() &&
                       value_of(versions_[version].data) == addition.begun.token;
    if (is_it) authors_[version] = &addition;
  }

  void check_version(std::size_t version) {
    const auto before = value_of(versions_[version - 1].data);
    const auto now = value_of(versions_[version].data);
    const Addition* author = authors_[version];
    if (!author)
      add("version " + std::to_string(version) + " was written, and nobody says so", {.at = versions_[version].at});
    else if (!before || !now || *now != *before + author->begun.limit)
      add("version " + std::to_string(version) + " is not the sum", author->begun);
  }

  const Evidence& evidence_;
  const std::string& path_;
  const std::vector<Version>& versions_;
  std::vector<const Addition*> authors_{};
  std::vector<Violation> found_{};
};

}  // namespace

std::vector<Violation> check_counts(const Evidence& evidence) {
  constexpr std::ptrdiff_t enough = 50;  // so many tell a share
  std::vector<Violation> found;
  const auto additions = additions_of(evidence);
  for (const auto& [path, lives] : evidence.lives.all())
    if (path.starts_with(counts_root))
      std::ranges::move(CountCheck{evidence, path, lives}.run(additions), std::back_inserter(found));
  for (const Addition& each : additions)
    if (!each.ended && evidence.drained.contains(each.begun.process))
      found.push_back({"a compare-and-set has not ended", {}, each.begun.process, 0, each.begun.at, each.begun.lock});
  const auto successes = std::ranges::count_if(additions, &Addition::has_succeeded);
  const auto asked = std::ssize(additions);
  if (asked >= enough && static_cast<double>(successes) < evidence.bounds.granted * static_cast<double>(asked))
    found.push_back(
        {"of " + std::to_string(asked) + " compare-and-sets only " + std::to_string(successes) + " succeeded"});
  return found;
}

}  // namespace zklock::chaos

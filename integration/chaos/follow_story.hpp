// Histories of what is kept and followed, made by hand, for the tests of the judge.
#pragma once

#include "judge_story.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace zklock::chaos {

/// As Story; the records may come in any order.
class FollowStory : public Story {
 public:
  using Story::Story;

  FollowStory& make(std::int64_t zxid, std::int64_t session, const std::string& path, const std::string& data = {}) {
    return add(zxid, session,
               {.kind = Change::Kind::create, .path = path, .data = data, .is_ephemeral = session != theirs});
  }
  FollowStory& set(std::int64_t zxid, std::int64_t session, const std::string& path, const std::string& data) {
    return add(zxid, session, {.kind = Change::Kind::set_data, .path = path, .data = data});
  }
  FollowStory& drop(std::int64_t zxid, std::int64_t session, const std::string& path) {
    return add(zxid, session, {.kind = Change::Kind::remove, .path = path});
  }
  /// A part of the last transaction.
  FollowStory& and_make(const std::string& path, const std::string& data) {
    transactions.back().changes.push_back(
        {.kind = Change::Kind::create, .path = path, .data = data, .is_ephemeral = true});
    return *this;
  }
  FollowStory& says(double at, Record record) {
    record.at = static_cast<std::int64_t>(at * second);
    if (record.process == 0) record.process = 1;
    auto& all = evidence.follows;
    all.insert(std::ranges::upper_bound(all, record.at, {}, &Record::at), std::move(record));
    return *this;
  }
  /// All that was said of that, at or after that time.
  FollowStory& unsay(Event event, const std::string& path, double from = 0) {
    std::erase_if(evidence.follows, [&](const Record& each) {
      return each.event == event && each.lock == path && static_cast<double>(each.at) >= from * second;
    });
    return *this;
  }
  FollowStory& told(double at, const std::string& path, const std::string& what, std::int64_t token = 0) {
    return says(at, {.event = Event::told, .lock = path, .token = token, .reason = what});
  }

 private:
  FollowStory& add(std::int64_t zxid, std::int64_t session, Change change) {
    const auto place = std::ranges::upper_bound(transactions, zxid, {}, &ServerTransaction::zxid);
    transactions.insert(place, {.zxid = zxid, .session = session, .at = zxid * second, .changes = {std::move(change)}});
    return *this;
  }
};

}  // namespace zklock::chaos

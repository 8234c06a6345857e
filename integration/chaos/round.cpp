#include "round.hpp"

#include "layout.hpp"
#include "user.hpp"

#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>

#include <algorithm>
#include <utility>

namespace zklock::chaos {

using namespace std::chrono_literals;

namespace {

constexpr auto glance = 20ms;
constexpr auto worth_repeating = 300ms;  // of an unchanged state
constexpr auto last_wait = 20s;          // for the last state

std::string data_of(const FollowerOptions& options, std::int64_t number) {
  return "worker-" + std::to_string(options.process) + ":" + std::to_string(number);
}

std::string word_of(const GroupMembers& group) {
  std::string text;
  for (const auto& [id, member] : group.members)
    text += (text.empty() ? "" : ",") + id + ":" + std::to_string(member.czxid);
  return text;
}

LeaderStream leaders_of(const Client& client, const std::string& path) {
  if (path.find("latch") != std::string::npos) return LeaderLatch{client, path}.leaders();
  return LeaderSelector{client, path, has_kazoos_names(path) ? LockNaming::kazoo : LockNaming::curator}.leaders();
}

bool is_connected(const Client& client) {
  const ConnectionState state = client.state();
  return state == ConnectionState::connected || state == ConnectionState::reconnected;
}

}  // namespace

Round::Round(const Client& client, const Log& log, const FollowerOptions& options)
    : client_{client},
      log_{log},
      options_{options},
      node_{client, std::string{kept_root} + "/slot-" + std::to_string(options.slot), data_of(options, 0)},
      member_{client, group_root, "slot-" + std::to_string(options.slot), data_of(options, 0)} {
  for (const detail::KeptNode* each :
       {static_cast<const detail::KeptNode*>(&node_), static_cast<const detail::KeptNode*>(&member_)}) {
    note({.event = Event::keeps, .lock = each->path()});
    note({.event = Event::wishes, .lock = each->path(), .reason = each->data()});
    kept_.push_back({*each});
  }
  begin(group_root);
  begin(tree_root);
  cache_.emplace(client, tree_root);
  events_.emplace(cache_->events());
  for (std::uint64_t i = 0; i < shared_counts; ++i) {
    std::string path = std::string{counts_root} + "/" + std::to_string(i);
    begin(path);
    counts_.push_back({path, SharedCount{client, path, 0}.values()});
  }
  for (const std::string_view path : shown_elections) {
    begin(std::string{path});
    elections_.push_back({std::string{path}, leaders_of(client, std::string{path})});
  }
}

void Round::note(Record record) const {
  record.process = options_.process;
  log_.write(std::move(record));
}

/// If no event comes although the last one was `stale`, no connection has caught up since; and if there is none at all
/// after that time, the one that will has yet to be made.
void Round::look() {
  const std::int64_t now = now_in_microseconds();
  const bool has_no_link = !member_.members().is_live() && !is_connected(client_);
  const bool is_cut = is_stale_ && !is_connected(client_);
  if (const auto event = events_->next(glance))
    note_event(*event);
  else if (is_cut)
    without_link_at_ = now;
  if (has_no_link && !member_.members().is_live()) group_without_link_at_ = now;
  follow_events();
}

void Round::follow_events() {
  while (const auto event = events_->next(0ms)) note_event(*event);
  for (Count& each : counts_)
    while (const auto change = each.values.next(0ms)) note_change(each.path, *change);
  for (Election& each : elections_)
    while (const auto leader = each.leaders.next(0ms))
      note({.event = Event::shows, .lock = each.path, .token = *leader ? (*leader)->fencing_token : 0});
  for (Kept& each : kept_) claim(each);
  show_group();
}

void Round::note_event(const CacheEvent& event) {
  using Type = CacheEvent::Type;
  Record record{.event = Event::told,
                .lock = event.path.empty() ? tree_root : event.path,
                .reason = std::string{to_string(event.type)}};
  if (const ChildDataPtr& node = event.now ? event.now : event.before) {
    record.token = node->stat.mzxid;
    record.number = node->stat.czxid;
  }
  if (event.type == Type::live) record.number = std::exchange(without_link_at_, 0);
  if (event.type == Type::live) is_stale_ = false;
  if (event.type == Type::stale) is_stale_ = true;
  note(std::move(record));
}

void Round::note_change(const std::string& path, const ValueChange<std::int32_t>& change) const {
  Record record{.event = Event::told, .lock = path, .reason = change.error ? "unreadable" : "deleted"};
  if (change.value) {
    record.reason = "changed";
    record.token = change.value->mzxid;
    record.number = change.value->czxid;
  }
  note(std::move(record));
}

/// Only if the session was the same before and after: then the state is not older than the session.
void Round::claim(Kept& kept) {
  const std::int64_t session = client_.session().id();
  const NodeState state = kept.node.state();
  if (client_.session().id() != session) return;
  Record record{.event = Event::claims,
                .lock = kept.node.path(),
                .token = state.czxid,
                .session = session,
                .reason = std::string{to_string(state.phase)}};
  if (record == kept.last && Clock::now() < kept.noted + worth_repeating) return;
  kept.last = record;
  kept.noted = Clock::now();
  note(std::move(record));
}

void Round::show_group() {
  const GroupMembers group = member_.members();
  if (group.freshness.state == Freshness::State::loading) return;
  const std::int64_t without_link_at = group.is_live() ? std::exchange(group_without_link_at_, 0) : 0;
  std::string now = "members:" + word_of(group);
  if (now == shown_ && without_link_at == 0) return;
  shown_ = now;
  note({.event = Event::shows, .lock = group_root, .number = without_link_at, .reason = std::move(now)});
}

void Round::write() {
  std::string data = data_of(options_, ++wishes_);
  note({.event = Event::wishes, .lock = node_.path(), .reason = data});
  written_.emplace();
  node_.async_set_data(std::move(data), written_->handler());
}

void Round::note_end() {
  bool is_fine = node_.wait_present(last_wait) && member_.wait_present(last_wait);
  is_fine = is_fine && (!written_ || written_->ready(last_wait));
  note({.event = Event::looks, .lock = tree_root});
  is_fine = is_fine && cache_->refresh(last_wait);
  for (const auto& [path, node] : *cache_->snapshot())
    note({.event = Event::holds, .lock = path, .token = node->stat.mzxid, .number = node->stat.czxid});
  kept_.front().noted = kept_.back().noted = {};
  follow_events();
  note({.event = Event::held, .lock = tree_root, .reason = is_fine ? "ok" : "not_in_time"});
}

void Round::close() {
  follow_events();
  for (const Count& each : counts_) note({.event = Event::unfollows, .lock = each.path});
  for (const Election& each : elections_) note({.event = Event::unfollows, .lock = each.path});
  note({.event = Event::unfollows, .lock = tree_root});
  note({.event = Event::unfollows, .lock = group_root});
  counts_.clear();
  elections_.clear();
  events_.reset();
  cache_.reset();
  for (Kept& each : kept_) {
    note({.event = Event::closes, .lock = each.node.path()});
    each.node.async_close(each.closing.handler());
  }
  for (Kept& each : kept_) {
    const std::string outcome = reason_of(std::get<0>(each.closing.get(for_ever)));
    note({.event = Event::closed, .lock = each.node.path(), .reason = outcome});
  }
}

}  // namespace zklock::chaos

#include "group_view.hpp"

#include <zklock/path.hpp>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <utility>

namespace zklock::detail {

std::shared_ptr<GroupView> GroupView::start(const ClientHandle& client, std::string path) {
  auto view = std::make_shared<GroupView>(client, std::move(path));
  view->follow_->start(view);
  return view;
}

GroupView::GroupView(const ClientHandle& client, std::string path)
    : RecipeCore{client, std::move(path)},
      follow_{std::make_shared<Follow>(client, Item{WatchKind::children, this->path()})},
      told_{client.get_executor()} {}

// ---- any thread

/// What Follow says now comes first: the members are then as fresh at least.
GroupMembers GroupView::members() const {
  GroupMembers now;
  const Freshness link = follow_->freshness();
  const std::lock_guard lock{mutex_};
  now.members = *shown_;
  now.error = unreadable_;
  now.freshness =
      freshness_.state == Freshness::State::live && link.state != Freshness::State::live ? link : freshness_;
  return now;
}

GroupChangeStream GroupView::subscribe() {
  const std::lock_guard lock{mutex_};
  auto queue = readers_.add(client());
  queue->push(shown_);
  if (has_ended_) queue->end(make_error_code(Error::closing));
  return GroupChangeStream{std::move(queue)};
}

void GroupView::stop() {
  follow_->stop();
  asio::dispatch(client().get_executor(), [self = shared_from_this()] { self->end(make_error_code(Error::closed)); });
}

Awaitable<error_code> GroupView::wait_for(std::shared_ptr<GroupView> self, std::size_t number) {
  for (;;) {
    const GroupMembers now = self->members();
    if (now.is_live() && now.members.size() >= number) co_return error_code{};
    if (const error_code trouble = self->follow_->trouble(); trouble && now.error) co_return trouble;
    if (self->ended_) co_return *self->ended_;
    co_await self->told_.wait();
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) co_return error_code{asio::error::operation_aborted};
  }
}

// ---- what the servers say

Item GroupView::item_of(const std::string& name) const { return {WatchKind::data, join_path(path(), name)}; }

void GroupView::on_children(const std::string&, ChildrenResult children) {
  std::set<std::string> names{children.names.begin(), children.names.end()};
  for (const std::string& name : names_) {
    if (names.contains(name)) continue;
    follow_->drop(item_of(name));
    read_.erase(name);
  }
  names_ = std::move(names);
  listed_ = children.stat.pzxid;
  is_listed_ = true;
  for (const std::string& name : names_) {
    const Item item = item_of(name);
    if (!follow_->is_clean(item)) read_.erase(name);  // the list may name another node
    follow_->add(item);
    follow_->release(item);
  }
  show();
}

void GroupView::on_data(const std::string& path, DataResult data) {
  Member member;
  member.payload = std::move(data.data);
  member.session = data.stat.ephemeral_owner;
  member.since = data.stat.created;
  member.czxid = data.stat.czxid;
  read_.insert_or_assign(std::string{node_name(path)}, std::move(member));
  show();
}

/// A member that is gone is in the next list no more, or it is there again.
void GroupView::on_absent(const Item& item) {
  if (item.kind == WatchKind::data) {
    read_.erase(std::string{node_name(item.path)});
    return;
  }
  for (const std::string& name : names_) follow_->drop(item_of(name));
  names_.clear();
  read_.clear();
  is_listed_ = true;
  show();
}

/// Of a member the payload is not known; that it is there is. Without a list the members that were shown stay, and are
/// said to be old.
void GroupView::on_unreadable(const Item& item, error_code error) {
  if (item.kind == WatchKind::data) {
    read_.insert_or_assign(std::string{node_name(item.path)}, Member{});
    return show();
  }
  is_listed_ = false;
  tell_trouble(error);
  told_.happen();
}

void GroupView::tell_trouble(error_code error) {
  const std::lock_guard lock{mutex_};
  unreadable_ = error;
  if (error && freshness_.state != Freshness::State::stale) freshness_ = {Freshness::State::stale, Clock::now()};
}

/// Those that were read are those that the list names. Of a member that was read behind the list there may be another
/// node by now, of which another list will tell.
bool GroupView::is_whole() const {
  if (!is_listed_ || read_.size() != names_.size()) return false;
  return follow_->is_clean({WatchKind::children, path()}) ||
         std::ranges::all_of(read_, [this](const auto& entry) { return entry.second.czxid <= listed_; });
}

void GroupView::show() {
  if (!is_whole()) return;
  tell_trouble(follow_->trouble());  // of a member that cannot be watched
  const std::lock_guard lock{mutex_};
  if (*shown_ != read_) readers_.push(shown_ = std::make_shared<const MemberMap>(read_));
  if (is_caught_up_ && !unreadable_ && freshness_.state != Freshness::State::live)
    freshness_ = {Freshness::State::live, Clock::now()};
  told_.happen();
}

/// That all is read which had happened before the link was made does not make what is shown live: it may be from before
/// that, because what was read does not fit together.
void GroupView::on_freshness(const Freshness& followed) {
  is_caught_up_ = followed.state == Freshness::State::live;
  {
    const std::lock_guard lock{mutex_};
    const bool is_older = !is_caught_up_ && freshness_.state == Freshness::State::live;
    if (is_older || followed.state == Freshness::State::gone) freshness_ = followed;
  }
  if (is_caught_up_) show();
  told_.happen();
}

void GroupView::on_end(error_code reason) { end(reason == Error::closing ? make_error_code(Error::closed) : reason); }

void GroupView::end(error_code reason) {
  if (ended_) return;
  ended_ = reason;
  told_.happen();
  const std::lock_guard lock{mutex_};
  has_ended_ = true;
  readers_.end(make_error_code(Error::closing));
}

}  // namespace zklock::detail

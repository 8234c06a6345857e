#include "accept.hpp"
#include "follow.hpp"
#include "watch_merging.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/event_queue.hpp>
#include <zklock/recipes/caches/watching.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace zklock {

namespace {

/// The follower of one item, whose events have one reader.
template <class Change, class Unread>
class Watcher : public Follower {
 public:
  using Queue = EventQueue<Change, Unread>;

  explicit Watcher(const std::shared_ptr<Queue>& events) : events_{events} {}

  void on_data(const std::string&, DataResult) override {}
  void on_children(const std::string&, ChildrenResult) override {}
  void on_freshness(const Freshness&) override {}
  void on_end(error_code reason) override {
    if (const auto events = events_.lock()) events->end(reason);
  }

 protected:
  void push(Change change) {
    has_begun_ = true;
    if (const auto events = events_.lock()) events->push(std::move(change));
  }
  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }

 private:
  std::weak_ptr<Queue> events_;
  bool has_begun_ = false;
};

class DataWatcher final : public Watcher<DataChange, UnreadData> {
 public:
  using Watcher::Watcher;

  void on_data(const std::string&, DataResult node) override {
    const Accepted accepted = accept(seen_, node.stat);
    const bool was_unreadable = std::exchange(is_unreadable_, false);
    const bool was_unknown = !std::exchange(is_known_, true);
    seen_ = node.stat;
    DataChange change{.kind = DataChange::Kind::changed, .skipped = accepted.skipped};
    if (accepted.change == Change::created && !was_unreadable) change.kind = DataChange::Kind::created;
    if (was_unknown) change.skipped = 0;  // unreadable until now, it was there in the beginning
    if (accepted.change == Change::new_incarnation) change.kind = DataChange::Kind::recreated;
    if (accepted.change == Change::same && !was_unreadable) return;
    if (!has_begun()) change = {};
    change.node = std::move(node);
    push(std::move(change));
  }

  void on_absent(const Item&) override {
    const bool was_there = std::exchange(seen_, std::nullopt).has_value();
    is_known_ = true;
    if (!std::exchange(is_unreadable_, false) && !was_there && has_begun()) return;
    push({.kind = has_begun() ? DataChange::Kind::deleted : DataChange::Kind::initial});
  }

  void on_unreadable(const Item&, error_code error) override {
    if (std::exchange(is_unreadable_, true)) return;
    push({.kind = DataChange::Kind::unreadable, .error = error});
  }

 private:
  std::optional<Stat> seen_;
  bool is_known_ = false;  // it was read once, or there was none
  bool is_unreadable_ = false;
};

class ChildrenWatcher final : public Watcher<ChildrenChange, MergingList<ChildrenChange>> {
 public:
  using Watcher::Watcher;

  void on_children(const std::string&, ChildrenResult children) override {
    std::ranges::sort(children.names);
    show(Listing{std::move(children.names), children.stat}, {});
  }
  void on_absent(const Item&) override { show(std::nullopt, {}); }
  void on_unreadable(const Item&, error_code error) override { show(std::nullopt, error); }

 private:
  /// What came and went while the list could not be read counts, too; what did so before the first list does not.
  void show(std::optional<Listing> now, error_code error) {
    ListChange change = accept(seen_, now);
    change.unseen = now && last_read_ ? accept(*last_read_, now).unseen : 0;
    const bool is_news = !has_begun() || error != error_ || change.node.change != Change::same || change.unseen > 0 ||
                         !change.added.empty() || !change.removed.empty();
    ChildrenChange event{.added = std::move(change.added),
                         .removed = std::move(change.removed),
                         .unseen = change.unseen,
                         .error = error};
    if (now) event.names = now->names;
    if (now) event.stat = now->stat;
    if (!error) last_read_ = now;
    seen_ = std::move(now);
    error_ = error;
    if (is_news) push(std::move(event));
  }

  std::optional<Listing> seen_;  // as it is shown: nothing while it cannot be read
  std::optional<std::optional<Listing>> last_read_;
  error_code error_;
};

template <class Queue>
struct Followed {
  std::shared_ptr<Queue> events;
  std::shared_ptr<Follow> follow;
};

/// The events' reader keeps all of it.
template <class WatcherOf, class Queue = typename WatcherOf::Queue>
Followed<Queue> follow_item(const ClientHandle& client, Item item) {
  validate_path(item.path);
  auto events = std::make_shared<Queue>(client);
  auto watcher = std::make_shared<WatcherOf>(events);
  auto follow = std::make_shared<Follow>(client, std::move(item));
  follow->start(watcher);
  events->on_abandon = [follow, watcher] { follow->stop(); };
  return {std::move(events), std::move(follow)};
}

}  // namespace

detail::FollowedData detail::follow_data(const ClientHandle& client, std::string path) {
  auto followed = follow_item<DataWatcher>(client, {WatchKind::data, std::move(path)});
  return {std::move(followed.events), std::move(followed.follow)};
}

DataWatch watch_data(const ClientHandle& client, std::string path) {
  auto followed = detail::follow_data(client, std::move(path));
  return DataWatch{std::move(followed.events), std::move(followed.followed)};
}

ChildrenWatch watch_children(const ClientHandle& client, std::string path) {
  auto followed = follow_item<ChildrenWatcher>(client, {WatchKind::children, std::move(path)});
  return ChildrenWatch{std::move(followed.events), std::move(followed.follow)};
}

}  // namespace zklock

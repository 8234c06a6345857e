// Follows the members of a group.
#pragma once

#include "follow.hpp"
#include "group_changes.hpp"

#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/event_queue.hpp>
#include <zklock/recipe_kit/recipe_core.hpp>
#include <zklock/recipe_kit/spawn.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace zklock::detail {

/// The list of the directory says which members there are, all at one moment; the reads of the members say the rest. A
/// list is shown once all that it names have been read, those again of whose deletion or change an event has told.
///
/// Threads: the functions marked so, any; the others on the client's serial executor.
class GroupView : public RecipeCore, public Follower, public std::enable_shared_from_this<GroupView> {
 public:
  [[nodiscard]] static std::shared_ptr<GroupView> start(const ClientHandle& client, std::string path);
  /// For start() alone.
  GroupView(const ClientHandle& client, std::string path);

  // any thread
  [[nodiscard]] GroupMembers members() const;
  [[nodiscard]] GroupChangeStream subscribe();
  void stop();

  [[nodiscard]] static Awaitable<error_code> wait_for(std::shared_ptr<GroupView> self, std::size_t number);

 private:
  void on_data(const std::string& path, DataResult data) override;
  void on_children(const std::string& path, ChildrenResult children) override;
  void on_absent(const Item& item) override;
  void on_unreadable(const Item& item, error_code error) override;
  void on_freshness(const Freshness& freshness) override;
  void on_end(error_code reason) override;

  [[nodiscard]] Item item_of(const std::string& name) const;
  /// All that the list names have been read, as they were at one moment.
  [[nodiscard]] bool is_whole() const;
  /// Shows the list, if it is whole.
  void show();
  /// Success: there is none.
  void tell_trouble(error_code error);
  void end(error_code reason);

  std::shared_ptr<Follow> follow_;
  std::set<std::string> names_;  // the last list
  std::int64_t listed_ = 0;      // and its pzxid: none of its nodes was created later
  bool is_listed_ = false;       // it could be read
  bool is_caught_up_ = false;    // by Follow all is read that had happened before the link was made
  MemberMap read_;
  AsyncEvent told_;
  std::optional<error_code> ended_;

  mutable std::mutex mutex_;  // of what follows
  std::shared_ptr<const MemberMap> shown_ = std::make_shared<const MemberMap>();
  EventQueues<GroupChange, UnreadChanges> readers_;
  error_code unreadable_{};                                       // why there is no list, or not all are watched
  Freshness freshness_{Freshness::State::loading, Clock::now()};  // of what is shown
  bool has_ended_ = false;
};

}  // namespace zklock::detail

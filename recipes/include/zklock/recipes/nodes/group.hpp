// The members of a group, as the servers have them.
#pragma once

#include <zklock/client.hpp>
#include <zklock/event_stream.hpp>
#include <zklock/recipe_kit/wait_policy.hpp>
#include <zklock/recipes/caches/freshness.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zklock {

/// A member of a group: a node in the group's directory.
struct Member {
  std::string payload;
  std::int64_t session = 0;                       ///< the session that owns the node; 0: none does
  std::chrono::system_clock::time_point since{};  ///< when the node was created, by the servers' clock
  std::int64_t czxid = 0;  ///< which node it is: greater if a member of this id left and joined again

  friend bool operator==(const Member&, const Member&) = default;
};

/// The members by their ids, as they all were at one moment, and which moment that may be. Payloads may be later ones.
///
/// `live` promises that the moment is not before the link was made: what had happened by then is in `members`. What
/// happens later is there as soon as the servers have told of it and what it changes is read, mostly two flights; until
/// then `live` stays. Before the first moment is known it is `loading`, also if all has been read once: a member may
/// leave between the list of them and its own read, and then nothing fits together.
struct GroupMembers {
  std::map<std::string, Member> members;
  Freshness freshness;
  /// Why the directory cannot be read, mostly no_auth: these are the last members that were known. Or why not all
  /// members can be watched, mostly too_many_watches: these are the members of the last list, some without their data.
  error_code error{};

  [[nodiscard]] bool is_live() const noexcept { return freshness.state == Freshness::State::live; }
  /// The ids alone, in order: what share() takes.
  [[nodiscard]] std::vector<std::string> ids() const;
};

enum class GroupChangeKind { joined, left, changed };

/// What has happened to a member. `member` is the one that joined, the one that left, or the one with its new payload.
struct GroupChange {
  GroupChangeKind kind = GroupChangeKind::joined;
  std::string id;
  Member member;
};

namespace detail {
class GroupView;
const ClientHandle& home_of(const GroupView& view);
void start_wait_for_members(std::shared_ptr<GroupView> view, std::size_t number, WaitPolicy wait, Handler<> handler);
}  // namespace detail

/// A stream of a group's changes. It begins with `joined` of each member there is. What is promised is the sum: a
/// reader that applies all changes has the members. A slow reader gets fewer changes, of which each tells the
/// difference to what it has read; a member that came and went meanwhile is not told, one that left and joined again is told as
/// that. The stream ends (Error::closing) with the group's object or its client.
using GroupChangeStream = EventStream<GroupChange>;

/// Follows the members of a group without joining it, over lost links and sessions. Every child of the group's
/// directory is a member, whichever library has created it.
///
/// The members are shown as they all were at one moment, and never as at an earlier moment than before. After a lost
/// link only what has changed is read.
///
/// Threads: any thread may call anything but the destructor and the assignment.
class Group {
 public:
  /// Begins to read. Throws boost::system::system_error: Error::invalid_path.
  Group(const ClientHandle& client, std::string path);
  /// A temporary Client would be closed at once.
  template <class... Rest>
  Group(Client&&, Rest&&...) = delete;
  Group(Group&&) noexcept = default;
  Group& operator=(Group&& other) noexcept;
  ~Group();

  [[nodiscard]] const std::string& path() const;
  /// What is known now; asks no server. While the link is lost, or the directory cannot be read, these are the last
  /// members that were known.
  [[nodiscard]] GroupMembers members() const;
  /// A stream of the changes, from no members on.
  [[nodiscard]] GroupChangeStream changes() const;

  /// Waits until the group has so many members, or more. With 0 it waits until they are known at all.
  ///
  /// Signature     void(error_code)
  /// Completes     when the members that are shown are live and as many; at once if they are already.
  /// Errors        Error::timed_out (members() says whether the directory may not be read), Error::too_many_watches
  ///               and what else keeps the members from being watched, Error::closed, Error::auth_failed,
  ///               operation_aborted
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <class Rep, class Period, asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_for(std::size_t number, std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_wait(number, detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_for(std::size_t number, Token&& token = {}) const {
    return initiate_wait(number, detail::WaitPolicy{}, std::forward<Token>(token));
  }

  // The same, blocking: they throw boost::system::system_error with the errors above, and Error::blocking_in_handler on
  // a thread that the client's work needs. False: the time is up.

  void wait_for(std::size_t number) const { static_cast<void>(wait_for(number, detail::WaitPolicy{})); }
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::size_t number, std::chrono::duration<Rep, Period> wait) const {
    return wait_for(number, detail::WaitPolicy::of(wait));
  }

 private:
  template <class Token>
  auto initiate_wait(std::size_t number, detail::WaitPolicy wait, Token&& token) const {
    return detail::initiate<void(error_code), &detail::start_wait_for_members>(std::forward<Token>(token), view_,
                                                                               number, wait);
  }
  bool wait_for(std::size_t number, detail::WaitPolicy wait) const;

  std::shared_ptr<detail::GroupView> view_;
};

}  // namespace zklock

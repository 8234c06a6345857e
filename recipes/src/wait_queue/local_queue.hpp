// The client's own nodes in one wait queue: on one session they need neither watches nor lists to follow one another.
#pragma once

#include "directory_watch.hpp"
#include "late_nodes.hpp"
#include "local_waiter.hpp"

#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipes/locks/lock_kind.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

/// Where a node of the client is in its queue, by its number or by a list.
struct LocalPosition : QueuePosition {
  /// The predecessor, if that is the client's own. By the number alone only this one is known, not `predecessor`.
  std::shared_ptr<LocalWaiter> ahead{};
};

/// How a new node gets into the queue, and its client learns the node's position.
enum class EnqueueBy {
  number,          ///< the create alone: the node's number is likely to tell
  list,            ///< the create and a list of the queue, in one flight
  watch_and_list,  ///< the same, and the directory is watched from then on: the numbers of later nodes will tell
};

/// The nodes of a client on one path.
///
/// Threads: the client's executor.
class LocalQueue : public std::enable_shared_from_this<LocalQueue> {
 public:
  /// Without `watches` the numbers of new nodes tell nothing, and each of them lists the queue.
  explicit LocalQueue(std::shared_ptr<DirectoryWatches> watches = nullptr) : watches_{std::move(watches)} {}

  /// Grows with each departure.
  using Moment = std::uint64_t;
  /// The create of a node.
  struct Request {
    EnqueueBy how = EnqueueBy::list;
    Moment at = 0;
    std::uint64_t connection = 0;
  };
  /// The client's node with the number before that of its new node.
  struct RightAhead {
    std::shared_ptr<LocalWaiter> node{};  ///< null: the client's last node in this queue has another number
    bool is_proven = false;               ///< both are in the same directory
  };

  // ---- a new node

  /// By number, if the client's last node is likely to be right ahead and the directory is watched; otherwise by a list,
  /// with a watch on the directory if that is likely to pay for the next nodes.
  [[nodiscard]] EnqueueBy how_to_enqueue(const Session& session, LockKind kind) const;
  /// The create of a node is about to be sent: how_to_enqueue(), and the moment.
  [[nodiscard]] Request begin_request(const Session& session, LockKind kind);
  /// The reply to the create is there, and after a success enter() was called.
  void end_request(const Session& session, LockKind kind);
  /// Watches the directory from now on: to be called after the create, and before the list.
  void watch(const Session& session, const std::string& directory);
  /// What the server's numbers tell of a new node; to be called when the reply to its create is handled, before
  /// enter().
  ///
  /// The server numbers the nodes of the directory one by one as they are created. So no node has come in between, if
  /// the directory is the same, which only a watch on it proves: if it was made anew, its numbers have begun again.
  [[nodiscard]] RightAhead right_ahead(const Session& session, LockKind kind, std::int32_t sequence,
                                       Request request) const;
  /// The server has created a node of this client at the end of the queue.
  [[nodiscard]] std::shared_ptr<LocalWaiter> enter(const Session& session, LockKind kind, std::int32_t sequence,
                                                   CreateResult node);
  /// The same for a reader beside its owner's writer, whose number it has. It is adjacent to none by that.
  [[nodiscard]] std::shared_ptr<LocalWaiter> enter_beside(const Session& session, std::int32_t sequence,
                                                          CreateResult node);

  /// The acquire of a create has ended before the reply. New creates wait for those replies: a server that is too slow for
  /// the limits of its callers would have more and more to do, and none of them would ever get the lock.
  void begin_abandoned() noexcept { ++abandoned_; }
  void end_abandoned();
  [[nodiscard]] bool has_abandoned() const noexcept { return abandoned_ > 0; }
  /// Happens when none is left.
  [[nodiscard]] std::shared_ptr<AsyncEvent> settled(const Session& session);

  // ---- its position

  /// What the number tells now of that new node; std::nullopt: list the queue.
  [[nodiscard]] static std::optional<LocalPosition> position_by_number(const RightAhead& right_ahead, LockKind kind,
                                                                       const Request& request);
  /// What a list tells of the node with that name.
  [[nodiscard]] LocalPosition position_by_list(const Session& session, LockKind kind, LockNaming naming,
                                               const std::vector<std::string>& children, std::string_view name) const;
  /// The local waiter with that name and that number, in the wait queue that `kind` belongs to; null: it is not the
  /// client's, or has left. The number alone does not identify it: another client's node may have the same number, and
  /// so may the client's own. Nor does the name: under Kazoo's names a mutex and a writer have the same, and a mutex
  /// has not waited for readers.
  [[nodiscard]] std::shared_ptr<LocalWaiter> find(const Session& session, LockKind kind, std::int32_t sequence,
                                                  std::string_view name) const;

  // ---- tries

  /// A node of the client is being made.
  [[nodiscard]] bool is_making_node() const noexcept { return requested_.number > 0; }
  /// The client's last node has that name, and has left.
  [[nodiscard]] bool has_left(std::string_view name) const;

  /// A try that fails by a node in the queue writes twice. So after a failed one the next lists the queue first, and
  /// makes no node if another is ahead: that costs a sync and a read, in one flight.
  [[nodiscard]] bool has_try_failed() const noexcept { return has_try_failed_; }
  /// A node of the client was behind that one.
  void try_failed(std::string_view ahead) {
    has_try_failed_ = true;
    asked_node_ = ahead;
  }
  /// Whether a try that a list shows behind that node makes a node all the same: once for each node that is ahead at
  /// two tries. A client may keep it, and gives it up only if it is asked by a node.
  [[nodiscard]] bool is_to_be_asked(std::string_view ahead);
  /// An acquire has got the lock.
  void acquire_succeeded() noexcept { has_try_failed_ = false; }

  /// The attempts whose nodes a leader may have made twice.
  [[nodiscard]] LateNodes& late_nodes() noexcept { return late_nodes_; }

 private:
  friend class LocalWaiter;
  [[nodiscard]] bool is_likely_adjacent(const Session& session, LockKind kind) const;
  [[nodiscard]] Moment on_dequeued(const LocalWaiter& local_waiter);
  /// Takes it out of the queue.
  void take_out(const LocalWaiter& local_waiter);
  [[nodiscard]] std::shared_ptr<LocalWaiter> add(const Session& session, LockKind kind, std::int32_t sequence,
                                                 CreateResult node);
  /// The nodes of an earlier directory are gone with it.
  void lose_earlier_directory(const LocalWaiter& made);
  /// The nodes of the session that were made before that are gone with their directory.
  void on_gone(std::int64_t session, std::int64_t made_before);
  /// Wakes all local waiters when this session ends: with one listener for all of them, since there may be many.
  void attend(const Session& session);
  void listen(const asio::any_io_executor& executor);
  void wake_all(std::int64_t session) const;

  struct Requested {
    std::int64_t session = 0;
    LockKind kind{};
    int number = 0;
    int writers = 0;
    [[nodiscard]] bool is_of(const Session& session, LockKind kind) const;
  } requested_;
  int abandoned_ = 0;
  std::weak_ptr<AsyncEvent> settled_;  // while a create waits
  std::multimap<std::int32_t, std::shared_ptr<LocalWaiter>> present_;
  std::shared_ptr<LocalWaiter> newest_;  // the client's last node, also when it has left
  bool was_adjacent_ = false;            // its number was the one after that of the node before it
  Moment departures_ = 0;
  std::optional<SessionStateStream> states_;
  std::int64_t attended_ = 0;
  std::shared_ptr<DirectoryWatches> watches_;
  std::shared_ptr<DirectoryWatch> directory_ = std::make_shared<DirectoryWatch>();
  bool has_try_failed_ = false;
  std::string listed_node_;  // ahead of the last try that a list alone let fail
  std::string asked_node_;   // behind which a try has made a node
  LateNodes late_nodes_;
};

}  // namespace zklock

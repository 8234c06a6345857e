// The client's own nodes in one wait queue: on one session they need neither watches nor lists to follow one another.
#pragma once

#include "local_waiter.hpp"

#include <zklock/recipes/locks/lock_kind.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace zklock {

/// The nodes of a client on one path.
///
/// Threads: the client's executor.
class LocalQueue : public std::enable_shared_from_this<LocalQueue> {
 public:
  /// Grows with each departure.
  using Moment = std::uint64_t;
  [[nodiscard]] Moment now() const noexcept { return departures_; }

  /// ask(): the create of a node is requested. answered(): the reply is there; after a success enter() is called first.
  void ask(const Session& session, LockKind kind);
  void answered(const Session& session, LockKind kind);
  /// The server has created a node of this client.
  [[nodiscard]] std::shared_ptr<LocalWaiter> enter(const Session& session, LockKind kind, std::int32_t sequence,
                                                   std::string path);

  /// A new node of that kind is likely to be directly behind a local waiter whose queue position tells all that there
  /// is to know: on that session the last node in the queue is the client's, or is about to be; for a reader, that node
  /// is a writer, or waits for one.
  [[nodiscard]] bool leads(const Session& session, LockKind kind) const;
  /// The local waiter with that name and that number, in the wait queue that `kind` belongs to; null: it is not the
  /// client's, or has left. The number alone does not identify it: another client's node may have the same number, and
  /// so may the client's own. Nor does the name: under Kazoo's names a mutex and a writer have the same, and a mutex
  /// has not waited for readers.
  [[nodiscard]] std::shared_ptr<LocalWaiter> find(const Session& session, LockKind kind, std::int32_t sequence,
                                                  std::string_view name) const;

  /// The local waiter with the number before that of the client's new node, which was requested at `asked_for`. Null:
  /// that number is not the client's, or it had left by then.
  ///
  /// The server numbers the nodes of the directory one by one as they are created. While the local waiter existed, the
  /// directory cannot have been created anew, so no node has come in between. An operator may have deleted all of it;
  /// then the local waiter's own delete finds its node missing, and tells so to those that it handed the lock off to.
  [[nodiscard]] std::shared_ptr<LocalWaiter> right_ahead(const Session& session, LockKind kind, std::int32_t sequence,
                                                         Moment asked_for) const;

 private:
  friend class LocalWaiter;
  [[nodiscard]] std::shared_ptr<LocalWaiter> find_number(const Session& session, LockKind kind,
                                                         std::int32_t sequence) const;
  [[nodiscard]] Moment on_dequeued(const LocalWaiter& local_waiter);
  /// Takes it out of the queue; null: it is not in it.
  std::shared_ptr<LocalWaiter> take_out(const LocalWaiter& local_waiter);
  /// Wakes all local waiters when this session ends: with one listener for all of them, since there may be many.
  void attend(const Session& session);
  void listen(const asio::any_io_executor& executor);
  void wake_all(std::int64_t session) const;

  struct Asked {
    std::int64_t session = 0;
    LockKind kind{};
    int number = 0;
    int writers = 0;
    [[nodiscard]] bool is_of(const Session& session, LockKind kind) const;
  } asked_;
  std::map<std::int32_t, std::shared_ptr<LocalWaiter>> present_;
  std::shared_ptr<LocalWaiter> last_;  // the local waiter that left last; behind an earlier one a new node lists
  Moment departures_ = 0;
  std::optional<SessionStateStream> states_;
  std::int64_t attended_ = 0;
};

}  // namespace zklock

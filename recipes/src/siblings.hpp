// Our own nodes in one line: those of one client, on one session, need neither watches nor lists to follow one another.
#pragma once

#include <zklock/detail/spawn.hpp>
#include <zklock/recipes/lock_kind.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

class Siblings;

/// One of them.
///
/// Threads: the session's executor.
class Sibling {
 public:
  Sibling(std::weak_ptr<Siblings> all, std::int64_t session, LockKind kind, std::int32_t sequence,
          std::string path) noexcept
      : all_{std::move(all)}, session_{session}, kind_{kind}, sequence_{sequence}, path_{std::move(path)} {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] LockKind kind() const noexcept { return kind_; }
  [[nodiscard]] bool is_gone() const noexcept { return gone_at_ != 0; }
  /// It held the lock.
  [[nodiscard]] bool was_granted() const noexcept { return granted_; }

  void grant() noexcept { granted_ = true; }
  /// Its node is gone, though not by us: nobody is right behind it any more, and who waited for it looks again.
  void vanish();
  /// Its delete is put on the wire in this turn of the executor. Those who wait for it wake in a later one, so that
  /// whatever they ask for is asked behind the delete.
  void leave(const asio::any_io_executor& executor);

  /// Sleeps until it or its node is gone, on behalf of `waiter`. The error that ended the session, if it has ended.
  [[nodiscard]] static Awaitable<error_code> wait_gone(std::shared_ptr<Sibling> self, Session session,
                                                       std::weak_ptr<Sibling> waiter);

  /// Whom it sleeps for in wait_gone(), if that one is still there.
  [[nodiscard]] std::shared_ptr<Sibling> waits_for() const;

  /// Those who sleep until we are gone, up to most_heirs of them, and to most_bytes of paths. Whoever asks has to see()
  /// each of them in a moment.
  [[nodiscard]] std::vector<std::shared_ptr<Sibling>> take_heirs();
  /// Our node is there, or has just been made; no_node: it is not there; lock_lost: that of the one who was ahead had
  /// gone before, so that what it left to us proves nothing; another error: nobody knows.
  void see(error_code seen);
  /// We have seen that what was left to us proves nothing, and so does what we leave.
  [[nodiscard]] bool was_misled() const noexcept;
  /// What the delete of our node has found; an error but no_node: nobody knows.
  void on_removed(error_code outcome);
  /// `heir` was being made while we left, so that nobody asks for its node; our delete shows whether its place is right
  /// behind ours, and the heir see()s that.
  void hand_on_late(const std::shared_ptr<Sibling>& heir);
  /// What was seen before says nothing of a grant to come.
  void forget_seen();
  /// Calls back once with the outcome, when the one who was ahead of us has to see us. False: nobody has.
  [[nodiscard]] bool when_seen(std::function<void(error_code)> handler);

 private:
  friend class Siblings;

  std::weak_ptr<Siblings> all_;
  std::int64_t session_;
  LockKind kind_;
  std::int32_t sequence_;
  std::string path_;
  bool granted_ = false;
  bool is_heir_ = false;
  std::uint64_t gone_at_ = 0;
  struct Waiter {
    std::weak_ptr<Timer> gate;
    std::weak_ptr<Sibling> sibling;
  };
  void sweep_waiters();
  void wake() const;

  static constexpr std::size_t most_heirs = 256;
  static constexpr std::size_t most_bytes = 30'000;  // of the megabyte that a server takes in one request

  bool vanished_ = false;
  std::weak_ptr<Sibling> waits_for_;
  std::vector<Waiter> waiters_;
  std::size_t next_sweep_ = 0;  // of those who have given up, once there are so many
  std::optional<error_code> seen_;
  std::function<void(error_code)> on_seen_;
  std::optional<error_code> removed_;
  std::vector<std::weak_ptr<Sibling>> late_heirs_;
};

/// The nodes of a client on one path.
///
/// Threads: the client's executor.
class Siblings : public std::enable_shared_from_this<Siblings> {
 public:
  /// Grows with each departure.
  using Moment = std::uint64_t;
  [[nodiscard]] Moment now() const noexcept { return departures_; }

  /// A node of ours is asked for; the answer is there, enter() being called before if it is a good one.
  void ask(const Session& session, LockKind kind);
  void answered(const Session& session, LockKind kind);
  /// The server has made a node of ours.
  [[nodiscard]] std::shared_ptr<Sibling> enter(const Session& session, LockKind kind, std::int32_t sequence,
                                               std::string path);

  /// A node of ours that is to be of that kind is likely to stand right behind another whose place tells it all there
  /// is to know of the line: one of ours is the last in it, on that session, or about to be; for a reader, one that
  /// writes or waits for such a one.
  [[nodiscard]] bool leads(const Session& session, LockKind kind) const;
  /// The one of that name, which has that number and stands in the line that `kind` stands in; null: it is not one of
  /// ours, or has gone. The number alone does not tell: a stranger's node may have it, too, and so may our own. Nor
  /// does the name: under Kazoo's a mutex and a writer have the same, and a mutex has not waited for readers.
  [[nodiscard]] std::shared_ptr<Sibling> find(const Session& session, LockKind kind, std::int32_t sequence,
                                              std::string_view name) const;

  /// The one with the number before that of our node, which was asked for at that moment. Null: it is not one of ours,
  /// or was gone by then.
  ///
  /// The server numbers the nodes of the directory one by one as they are created. While the sibling was there the
  /// directory cannot have been made anew, so nobody has come in between. An operator may have deleted all of it; then
  /// the sibling's own delete finds its node missing, and says so to whoever was handed the lock.
  [[nodiscard]] std::shared_ptr<Sibling> right_ahead(const Session& session, LockKind kind, std::int32_t sequence,
                                                     Moment asked_for) const;

 private:
  friend class Sibling;
  [[nodiscard]] std::shared_ptr<Sibling> find_number(const Session& session, LockKind kind,
                                                     std::int32_t sequence) const;
  void on_left(const Sibling& sibling);
  /// All who sleep are woken when this session ends: one listener for them, since there may be many.
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
  std::map<std::int32_t, std::shared_ptr<Sibling>> present_;
  std::shared_ptr<Sibling> last_;  // the last that left
  Moment departures_ = 0;
  std::optional<SessionStateStream> states_;
  std::int64_t attended_ = 0;
};

}  // namespace zklock

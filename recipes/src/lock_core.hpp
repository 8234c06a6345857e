// What the locks of one client on one path share.
#pragma once

#include "holding.hpp"
#include "path_use.hpp"

#include <zklock/client.hpp>
#include <zklock/detail/spawn.hpp>
#include <zklock/recipes/lock_kind.hpp>
#include <zklock/recipes/lock_node.hpp>
#include <zklock/recipes/owner.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace zklock::detail {

/// Views of one client with other namespaces are kept apart: their leases' paths differ.
[[nodiscard]] inline std::string shelf_key(const ClientHandle& client, const std::string& path, LockNaming naming) {
  return (naming == LockNaming::kazoo ? "kazoo " : "curator ") + client.server_path(path) + ' ' + path;
}

/// Who of this client holds which kind of lock on the path. Lives as long as a lock object or a holding does.
///
/// Threads: what is marked so, any; the rest on the client's executor.
class LockCore : public std::enable_shared_from_this<LockCore> {
 public:
  LockCore(const ClientHandle& client, std::string path, LockNaming naming)
      : client_{client}, path_{std::move(path)}, naming_{naming} {}
  /// The one of the client, the path and the names; `path` is valid.
  static std::shared_ptr<LockCore> of(const ClientHandle& client, const std::string& path,
                                      LockNaming naming = LockNaming::curator);

  // any thread
  [[nodiscard]] const ClientHandle& client() const noexcept { return client_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] LockNaming naming() const noexcept { return naming_; }
  [[nodiscard]] std::string_view marker(LockKind kind) const noexcept { return marker_of(kind, naming_); }
  /// The owner has given back all that it held.
  void on_end_of(Owner owner, LockKind kind);
  /// What the owner holds, lost or not; null: nothing.
  [[nodiscard]] std::shared_ptr<Holding> held_by(Owner owner, LockKind kind) const;
  /// Somebody holds it, and has not lost it.
  [[nodiscard]] bool is_held(LockKind kind) const;

  /// What an acquire begins with, and has until its node's delete is put on the wire: Error::mixed_lock_kinds while the
  /// client stands in line there, or holds, by a lock of the other kind. Null under Kazoo's names, under which mutexes
  /// and writers do exclude each other. The client's executor.
  [[nodiscard]] Result<PathShare> use_as(LockKind kind);
  /// Our nodes in line. The client's executor.
  [[nodiscard]] const std::shared_ptr<Siblings>& siblings() const noexcept { return siblings_; }
  /// The owner has been granted the lock by this node.
  [[nodiscard]] std::shared_ptr<Holding> hold(Owner owner, LockKind kind, Session session, CreateResult node,
                                              const LockAttempt& attempt);

  /// One owner stands in line for a kind of lock once at a time: whoever comes second waits for how that ends, and may
  /// then enter again.
  class Turn {
   public:
    /// Whoever has it gives up when `cancellation` says so, though it may take a moment.
    Turn(LockCore& core, Owner owner, LockKind kind, const asio::cancellation_state& cancellation);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    LockCore& core_;
    std::pair<Owner, LockKind> key_;
  };
  struct TurnUnderWay {
    std::shared_ptr<Timer> end;  ///< never expires, cancelled at the end of the turn
    asio::cancellation_state cancellation;

    [[nodiscard]] bool is_given_up() const { return cancellation.cancelled() != asio::cancellation_type::none; }
  };
  /// That of the owner, for this kind or the other half of a read and write lock; null: there is none. Good until the
  /// caller suspends.
  [[nodiscard]] const TurnUnderWay* turn_of(Owner owner, LockKind kind) const;

 private:
  using Key = std::pair<Owner, LockKind>;

  ClientHandle client_;
  std::string path_;
  LockNaming naming_;
  std::shared_ptr<PathUse> use_;  // null until the first acquire, and under Kazoo's names
  std::shared_ptr<Siblings> siblings_ = std::make_shared<Siblings>();
  mutable std::mutex mutex_;
  std::map<Key, std::weak_ptr<Holding>> held_;
  std::map<Key, TurnUnderWay> turns_;
};

}  // namespace zklock::detail

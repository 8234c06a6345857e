// One ZooKeeper session, its operations and its watches.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/detail/initiate.hpp>
#include <zklock/node_options.hpp>
#include <zklock/results.hpp>
#include <zklock/stat.hpp>
#include <zklock/state_stream.hpp>
#include <zklock/transaction.hpp>
#include <zklock/watch.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace zklock {

namespace detail {
class CleanupTrace;
class SessionCore;
Runtime& home_of(const SessionCore& session);

/// A session, and the prefix of its paths at the server: chroot and namespace.
class SessionHandle {
 public:
  SessionHandle() noexcept = default;
  SessionHandle(std::shared_ptr<SessionCore> core, std::string prefix) noexcept
      : core_{std::move(core)}, prefix_{std::move(prefix)} {}

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(core_); }
  [[nodiscard]] SessionCore& operator*() const noexcept { return *core_; }
  [[nodiscard]] SessionCore* operator->() const noexcept { return core_.get(); }
  [[nodiscard]] const std::shared_ptr<SessionCore>& core() const noexcept { return core_; }
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  friend bool operator==(const SessionHandle&, const SessionHandle&) = default;

 private:
  std::shared_ptr<SessionCore> core_;
  std::string prefix_;
};

void start_create(SessionHandle session, std::string path, std::string data, NodeOptions options,
                  Handler<CreateResult> handler);
void start_remove(SessionHandle session, std::string path, std::int32_t version, Handler<> handler);
void start_exists(SessionHandle session, std::string path, Handler<std::optional<Stat>> handler);
void start_exists_and_watch(SessionHandle session, std::string path, Handler<std::optional<Stat>, Watch> handler);
void start_get_data(SessionHandle session, std::string path, Handler<DataResult> handler);
void start_get_data_and_watch(SessionHandle session, std::string path, Handler<DataResult, Watch> handler);
void start_set_data(SessionHandle session, std::string path, std::string data, std::int32_t version,
                    Handler<Stat> handler);
void start_get_children(SessionHandle session, std::string path, Handler<ChildrenResult> handler);
void start_get_children_and_watch(SessionHandle session, std::string path, Handler<ChildrenResult, Watch> handler);
void start_get_acl(SessionHandle session, std::string path, Handler<AclResult> handler);
void start_set_acl(SessionHandle session, std::string path, Acl acl, std::int32_t acl_version, Handler<> handler);
void start_get_config(SessionHandle session, Handler<DataResult> handler);
void start_get_config_and_watch(SessionHandle session, Handler<DataResult, Watch> handler);
void start_commit(SessionHandle session, Transaction transaction, Handler<TransactionResults> handler);
void start_sync(SessionHandle session, std::string path, Handler<> handler);
}  // namespace detail

/// A handle on one session; copies share the session. The session survives lost links. Once the session is over, the
/// handle cannot be used any more: take a new one from the Client.
///
/// Paths are relative to the client's chroot and namespace.
///
/// Every operation
///   - refuses a bad argument before anything is sent (Error::invalid_path, payload_too_large, ...); the refusal is a
///     completion, not an exception;
///   - fails with Error::not_connected while the link is down;
///   - fails with Error::session_expired, auth_failed or closing once the session is over;
///   - completes exactly once and never inside the call that starts it;
///   - completes with operation_aborted at once when it is cancelled: terminal, partial and total alike. Unlike Asio's
///     own, total may leave an effect: the server may carry out a write that was sent, and the caller is not told.
/// outcome_of says which failures leave a write certainly undone.
///
/// Requests are sent, executed and answered in the order in which one thread makes them. So two requests that are
/// started back to back cost one round trip.
///
/// Threads: any thread may call anything. Handlers run on their associated executor; for handlers without one see
/// Client.
class Session {
 public:
  using executor_type = asio::any_io_executor;

  /// An empty handle, without a session: the operations throw.
  Session() noexcept = default;
  explicit Session(detail::SessionHandle handle) noexcept : core_{std::move(handle)} {}

  /// The session's serial executor. Work that is posted to it runs between two replies, in the order of the replies.
  [[nodiscard]] executor_type get_executor() const;
  /// The executor of handlers that bring none of their own; see Client.
  [[nodiscard]] asio::any_io_executor callback_executor() const;
  [[nodiscard]] SessionState state() const noexcept;
  /// A stream of the session's states from now on.
  [[nodiscard]] SessionStateStream states() const;
  /// 0 until the first connection.
  [[nodiscard]] std::int64_t id() const noexcept;
  [[nodiscard]] SessionCredentials credentials() const;
  /// The timeout that the server granted; until the first connection, the one that the client asked for.
  [[nodiscard]] std::chrono::milliseconds timeout() const noexcept;
  /// The servers keep the session and its ephemeral nodes at least until this moment, whatever happens to the servers,
  /// to the link or to this process. It is the session timeout, counted from the last request that a quorum must have
  /// received from this client. Requests move it on; SessionRenewal keeps it moving. time_point::min() until the first
  /// connection.
  [[nodiscard]] Clock::time_point valid_until() const noexcept;
  /// The number of the session's connection to a server: another one after each loss, however short. What a watch and
  /// the replies prove together, they prove on one connection only.
  [[nodiscard]] std::uint64_t connection() const noexcept;
  /// The path at the server, with chroot and namespace.
  [[nodiscard]] std::string full_path(const std::string& path) const;
  /// The same session, without a prefix: paths are the server's own.
  [[nodiscard]] Session without_prefix() const { return Session{detail::SessionHandle{core_.core(), {}}}; }
  /// True in a child process that was forked from the client's process: nothing works there.
  [[nodiscard]] bool in_forked_child() const noexcept;
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(core_); }
  friend bool operator==(const Session&, const Session&) = default;

  /// Creates a node.
  ///
  /// Signature     void(error_code, CreateResult)
  /// Errors        no_node (no parent), node_exists, no_children_for_ephemerals, no_auth, invalid_acl, quota_exceeded;
  ///               invalid_create_mode for a time to live without its mode, or the mode without a time to live;
  ///               invalid_timeout for a time to live out of range; unimplemented for a time to live at a server
  ///               without zookeeper.extendedTypesEnabled
  template <asio::completion_token_for<void(error_code, CreateResult)> Token = asio::deferred_t>
  auto async_create(std::string path, std::string data, NodeOptions options, Token&& token = {}) const {
    return detail::initiate<void(error_code, CreateResult), &detail::start_create>(
        std::forward<Token>(token), core_, std::move(path), std::move(data), std::move(options));
  }
  /// As above, with the defaults: a persistent node.
  ///
  /// Signature     void(error_code, CreateResult)
  template <asio::completion_token_for<void(error_code, CreateResult)> Token>
  auto async_create(std::string path, std::string data, Token&& token) const {
    return async_create(std::move(path), std::move(data), NodeOptions{}, std::forward<Token>(token));
  }
  auto async_create(std::string path, std::string data) const {
    return async_create(std::move(path), std::move(data), NodeOptions{});
  }

  /// Deletes a node that has no children, whatever its version.
  ///
  /// Signature     void(error_code)
  /// Errors        no_node, not_empty, no_auth
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_remove(std::string path, Token&& token = {}) const {
    return async_remove(std::move(path), any_version, std::forward<Token>(token));
  }

  /// Deletes a node that has no children if it has this version.
  ///
  /// Signature     void(error_code)
  /// Errors        no_node, bad_version, not_empty, no_auth
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_remove(std::string path, std::int32_t version, Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_remove>(std::forward<Token>(token), core_, std::move(path),
                                                                     version);
  }

  /// Reads a node's Stat; the result is empty if the node does not exist.
  ///
  /// Signature     void(error_code, std::optional<Stat>)
  /// Errors        no_auth (with servers from 3.8.4 and 3.9.2 on: the node exists, and may not be read)
  template <asio::completion_token_for<void(error_code, std::optional<Stat>)> Token = asio::deferred_t>
  auto async_exists(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, std::optional<Stat>), &detail::start_exists>(std::forward<Token>(token),
                                                                                          core_, std::move(path));
  }

  /// Like async_exists, and sets a watch for the node's creation, deletion and change of data. The watch is set also if
  /// the node does not exist.
  ///
  /// Signature     void(error_code, std::optional<Stat>, Watch)
  template <asio::completion_token_for<void(error_code, std::optional<Stat>, Watch)> Token = asio::deferred_t>
  auto async_exists_and_watch(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, std::optional<Stat>, Watch), &detail::start_exists_and_watch>(
        std::forward<Token>(token), core_, std::move(path));
  }

  /// Reads a node's data and Stat. A node created with null data reads as empty.
  ///
  /// Signature     void(error_code, DataResult)
  /// Errors        no_node, no_auth
  template <asio::completion_token_for<void(error_code, DataResult)> Token = asio::deferred_t>
  auto async_get_data(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, DataResult), &detail::start_get_data>(std::forward<Token>(token), core_,
                                                                                   std::move(path));
  }

  /// Like async_get_data, and sets a watch for the node's deletion and change of data. No watch is set if the node does
  /// not exist.
  ///
  /// Signature     void(error_code, DataResult, Watch)
  /// Errors        no_node, no_auth, too_many_watches
  template <asio::completion_token_for<void(error_code, DataResult, Watch)> Token = asio::deferred_t>
  auto async_get_data_and_watch(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, DataResult, Watch), &detail::start_get_data_and_watch>(
        std::forward<Token>(token), core_, std::move(path));
  }

  /// Replaces a node's data, whatever its version.
  ///
  /// Signature     void(error_code, Stat)
  /// Errors        no_node, no_auth
  template <asio::completion_token_for<void(error_code, Stat)> Token = asio::deferred_t>
  auto async_set_data(std::string path, std::string data, Token&& token = {}) const {
    return async_set_data(std::move(path), std::move(data), any_version, std::forward<Token>(token));
  }

  /// Replaces a node's data if it has this version.
  ///
  /// Signature     void(error_code, Stat)
  /// Errors        no_node, bad_version, no_auth
  template <asio::completion_token_for<void(error_code, Stat)> Token = asio::deferred_t>
  auto async_set_data(std::string path, std::string data, std::int32_t version, Token&& token = {}) const {
    return detail::initiate<void(error_code, Stat), &detail::start_set_data>(std::forward<Token>(token), core_,
                                                                             std::move(path), std::move(data), version);
  }

  /// Reads the names of a node's children, in no particular order.
  ///
  /// Signature     void(error_code, ChildrenResult)
  /// Errors        no_node, no_auth
  template <asio::completion_token_for<void(error_code, ChildrenResult)> Token = asio::deferred_t>
  auto async_get_children(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, ChildrenResult), &detail::start_get_children>(std::forward<Token>(token),
                                                                                           core_, std::move(path));
  }

  /// Like async_get_children, and sets a watch for the node's deletion and for the creation and deletion of its
  /// children. No watch is set if the node does not exist.
  ///
  /// Signature     void(error_code, ChildrenResult, Watch)
  /// Errors        no_node, no_auth, too_many_watches
  template <asio::completion_token_for<void(error_code, ChildrenResult, Watch)> Token = asio::deferred_t>
  auto async_get_children_and_watch(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, ChildrenResult, Watch), &detail::start_get_children_and_watch>(
        std::forward<Token>(token), core_, std::move(path));
  }

  /// Reads a node's ACL.
  ///
  /// Signature     void(error_code, AclResult)
  /// Errors        no_node, no_auth
  template <asio::completion_token_for<void(error_code, AclResult)> Token = asio::deferred_t>
  auto async_get_acl(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, AclResult), &detail::start_get_acl>(std::forward<Token>(token), core_,
                                                                                 std::move(path));
  }

  /// Replaces a node's ACL if it has this version (Stat::aversion); any_version matches every version.
  ///
  /// Signature     void(error_code)
  /// Errors        no_node, no_auth, invalid_acl, bad_version
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_set_acl(std::string path, Acl acl, std::int32_t acl_version, Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_set_acl>(std::forward<Token>(token), core_,
                                                                      std::move(path), std::move(acl), acl_version);
  }

  /// Reads the ensemble's configuration, as text. The chroot does not matter.
  ///
  /// Signature     void(error_code, DataResult)
  /// Errors        no_auth
  template <asio::completion_token_for<void(error_code, DataResult)> Token = asio::deferred_t>
  auto async_get_config(Token&& token = {}) const {
    return detail::initiate<void(error_code, DataResult), &detail::start_get_config>(std::forward<Token>(token), core_);
  }

  /// Like async_get_config, and sets a watch for its change.
  ///
  /// Signature     void(error_code, DataResult, Watch)
  /// Errors        no_auth, too_many_watches
  template <asio::completion_token_for<void(error_code, DataResult, Watch)> Token = asio::deferred_t>
  auto async_get_config_and_watch(Token&& token = {}) const {
    return detail::initiate<void(error_code, DataResult, Watch), &detail::start_get_config_and_watch>(
        std::forward<Token>(token), core_);
  }

  /// Carries out all operations of the transaction or none of them. There is one result for each operation, also after
  /// an error; the error is then that of the operation that failed.
  ///
  /// Signature     void(error_code, std::vector<TransactionResult>)
  /// Errors        those of the operations; invalid_transaction when the transaction is empty or an operation has a bad
  ///               argument (the result of that operation names the error); payload_too_large
  template <asio::completion_token_for<void(error_code, TransactionResults)> Token = asio::deferred_t>
  auto async_commit(Transaction transaction, Token&& token = {}) const {
    return detail::initiate<void(error_code, TransactionResults), &detail::start_commit>(std::forward<Token>(token),
                                                                                         core_, std::move(transaction));
  }

  /// Waits until the server of this connection has caught up with the leader. A later read is no older than this call.
  ///
  /// Signature     void(error_code)
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_sync(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_sync>(std::forward<Token>(token), core_, std::move(path));
  }

 private:
  friend class detail::CleanupTrace;
  friend class SessionRenewal;
  friend class WatchSet;
  detail::SessionHandle core_;
};

}  // namespace zklock

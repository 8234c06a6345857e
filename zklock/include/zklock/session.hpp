// One ZooKeeper session, its operations and its watches.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/connection_state.hpp>
#include <zklock/detail/operation.hpp>
#include <zklock/node_options.hpp>
#include <zklock/results.hpp>
#include <zklock/stat.hpp>
#include <zklock/transaction.hpp>
#include <zklock/watch.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace zklock {

namespace detail {
class SessionCore;
asio::any_io_executor serial_executor(const SessionCore& session);
asio::any_io_executor callback_executor(const SessionCore& session);
void refuse_after_fork(const SessionCore& session);

/// A session, and what stands before each path at the server: chroot and namespace.
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

/// A handle on one session; copies share it. It follows the session through lost links; once the session is over it
/// stays over: take a new one from the Client.
///
/// Paths are relative to the client's chroot and namespace.
///
/// Every operation
///   - refuses a bad argument before anything is sent (Error::invalid_path, payload_too_large, ...), as a completion,
///   not an exception;
///   - while the link is down, fails with Error::not_connected;
///   - once the session is over, fails with Error::session_expired, auth_failed or closing;
///   - completes exactly once and never inside the call that starts it;
///   - when cancelled (terminal, partial, and total alike), completes with operation_aborted at once. What was sent
///   cannot be called back: the server may still carry out a write, or has, and nobody will say so.
/// Which failures leave a write undone for sure: outcome_of.
///
/// Requests are sent, executed and answered in the order in which one thread makes them, so two started back to back
/// cost one round trip.
///
/// Threads: any thread may call anything. Handlers run on their associated executor; those without one, see Client.
class Session {
 public:
  using executor_type = asio::any_io_executor;

  /// No session: the operations throw.
  Session() noexcept = default;
  explicit Session(detail::SessionHandle handle) noexcept : core_{std::move(handle)} {}

  /// The serial executor that the session lives on: work on it runs between two replies, in their order.
  [[nodiscard]] executor_type get_executor() const;
  /// Where handlers run that bring no executor of their own; see Client.
  [[nodiscard]] asio::any_io_executor callback_executor() const;
  [[nodiscard]] SessionState state() const noexcept;
  /// The session's states from now on.
  [[nodiscard]] SessionStateStream states() const;
  /// 0 until the first connection.
  [[nodiscard]] std::int64_t id() const noexcept;
  [[nodiscard]] SessionCredentials credentials() const;
  /// As granted by the server; as asked for until the first connection.
  [[nodiscard]] std::chrono::milliseconds timeout() const noexcept;
  /// The servers keep the session, and its ephemeral nodes, until then at the least, whatever happens to them, to the
  /// link, or to this process: what is left of the session timeout, counted from what a quorum must have heard from us.
  /// Moves on with what is asked; SessionRenewal keeps it moving. time_point::min() until the first connection.
  [[nodiscard]] Clock::time_point valid_until() const noexcept;
  /// The path as the server has it, chroot and namespace included.
  [[nodiscard]] std::string full_path(const std::string& path) const;
  /// The same session, with the server's own paths.
  [[nodiscard]] Session without_prefix() const { return Session{detail::SessionHandle{core_.core(), {}}}; }
  /// True in a child process that was forked from the client's: nothing works there.
  [[nodiscard]] bool in_forked_child() const noexcept;
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(core_); }
  friend bool operator==(const Session&, const Session&) = default;

  /// Creates a node.
  ///
  /// Signature     void(error_code, CreateResult)
  /// Errors        no_node (no parent), node_exists, no_children_for_ephemerals, no_auth, invalid_acl, quota_exceeded;
  ///               invalid_create_mode for a time to live without its mode, and the other way about; invalid_timeout
  ///               for one out of range; unimplemented for one at a server without zookeeper.extendedTypesEnabled
  template <asio::completion_token_for<void(error_code, CreateResult)> Token = asio::deferred_t>
  auto async_create(std::string path, std::string data, NodeOptions options, Token&& token = {}) const {
    return detail::initiate<void(error_code, CreateResult), &detail::start_create>(
        std::forward<Token>(token), core_, std::move(path), std::move(data), std::move(options));
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

  /// Reads a node's Stat; nothing if there is no such node.
  ///
  /// Signature     void(error_code, std::optional<Stat>)
  template <asio::completion_token_for<void(error_code, std::optional<Stat>)> Token = asio::deferred_t>
  auto async_exists(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, std::optional<Stat>), &detail::start_exists>(std::forward<Token>(token),
                                                                                          core_, std::move(path));
  }

  /// As async_exists, and watches for the node's creation, deletion and change of data. The watch is set also where
  /// there is no node.
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

  /// As async_get_data, and watches for the node's deletion and change of data; no watch is left where there is no
  /// node.
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

  /// Reads the names of a node's children, in no order.
  ///
  /// Signature     void(error_code, ChildrenResult)
  /// Errors        no_node, no_auth
  template <asio::completion_token_for<void(error_code, ChildrenResult)> Token = asio::deferred_t>
  auto async_get_children(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, ChildrenResult), &detail::start_get_children>(std::forward<Token>(token),
                                                                                           core_, std::move(path));
  }

  /// As async_get_children, and watches for the node's deletion and for children that come and go; no watch is left
  /// where there is no node.
  ///
  /// Signature     void(error_code, ChildrenResult, Watch)
  /// Errors        no_node, no_auth, too_many_watches
  template <asio::completion_token_for<void(error_code, ChildrenResult, Watch)> Token = asio::deferred_t>
  auto async_get_children_and_watch(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, ChildrenResult, Watch), &detail::start_get_children_and_watch>(
        std::forward<Token>(token), core_, std::move(path));
  }

  /// Reads who may do what with a node.
  ///
  /// Signature     void(error_code, AclResult)
  /// Errors        no_node, no_auth
  template <asio::completion_token_for<void(error_code, AclResult)> Token = asio::deferred_t>
  auto async_get_acl(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, AclResult), &detail::start_get_acl>(std::forward<Token>(token), core_,
                                                                                 std::move(path));
  }

  /// Says who may do what with a node, if its ACL has this version (Stat::aversion), or whatever it has.
  ///
  /// Signature     void(error_code)
  /// Errors        no_node, no_auth, invalid_acl, bad_version
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_set_acl(std::string path, Acl acl, std::int32_t acl_version, Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_set_acl>(std::forward<Token>(token), core_,
                                                                      std::move(path), std::move(acl), acl_version);
  }

  /// Reads the ensemble's own configuration, as text; whatever the chroot is.
  ///
  /// Signature     void(error_code, DataResult)
  /// Errors        no_auth
  template <asio::completion_token_for<void(error_code, DataResult)> Token = asio::deferred_t>
  auto async_get_config(Token&& token = {}) const {
    return detail::initiate<void(error_code, DataResult), &detail::start_get_config>(std::forward<Token>(token), core_);
  }

  /// As async_get_config, and watches for a change of it.
  ///
  /// Signature     void(error_code, DataResult, Watch)
  /// Errors        no_auth, too_many_watches
  template <asio::completion_token_for<void(error_code, DataResult, Watch)> Token = asio::deferred_t>
  auto async_get_config_and_watch(Token&& token = {}) const {
    return detail::initiate<void(error_code, DataResult, Watch), &detail::start_get_config_and_watch>(
        std::forward<Token>(token), core_);
  }

  /// Does everything that the transaction says, or nothing of it. The results are one for each of its operations, also
  /// with an error, which is then that of the operation that failed.
  ///
  /// Signature     void(error_code, std::vector<TransactionResult>)
  /// Errors        those of the operations; invalid_transaction when it is empty or an operation has a bad argument,
  ///               which the result of that operation names; payload_too_large
  template <asio::completion_token_for<void(error_code, TransactionResults)> Token = asio::deferred_t>
  auto async_commit(Transaction transaction, Token&& token = {}) const {
    return detail::initiate<void(error_code, TransactionResults), &detail::start_commit>(std::forward<Token>(token),
                                                                                         core_, std::move(transaction));
  }

  /// Waits until the server that we are connected to has caught up with the leader: what is read after it is no older
  /// than the call.
  ///
  /// Signature     void(error_code)
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_sync(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_sync>(std::forward<Token>(token), core_, std::move(path));
  }

 private:
  friend class SessionRenewal;
  detail::SessionHandle core_;
};

}  // namespace zklock

// The operations of a Client: those of a Session, repeated where that may help.
#pragma once

#include <zklock/client_options.hpp>
#include <zklock/clock.hpp>
#include <zklock/detail/initiate.hpp>
#include <zklock/session.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace zklock {

namespace detail {
class ClientCore;
Runtime& home_of(const ClientCore& client);

/// A client and the namespace of its paths.
class ClientRef {
 public:
  ClientRef() noexcept = default;
  explicit ClientRef(std::shared_ptr<ClientCore> core, std::string name_space = {}) noexcept
      : core_{std::move(core)}, namespace_{std::move(name_space)} {}

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  [[nodiscard]] ClientCore& operator*() const noexcept { return *core_; }
  [[nodiscard]] ClientCore* operator->() const noexcept { return core_.get(); }
  [[nodiscard]] const std::shared_ptr<ClientCore>& core() const noexcept { return core_; }
  /// "/name", or empty.
  [[nodiscard]] const std::string& name_space() const noexcept { return namespace_; }

 private:
  std::shared_ptr<ClientCore> core_;
  std::string namespace_;
};

using Existence = std::optional<Stat>;

void start_client_create(ClientRef client, std::string path, std::string data, CreateOptions options,
                         Handler<CreateResult> handler);
void start_client_remove(ClientRef client, std::string path, RemoveOptions options, Handler<> handler);
void start_client_set_data(ClientRef client, std::string path, std::string data, SetDataOptions options,
                           Handler<Stat> handler);
void start_client_commit(ClientRef client, Transaction transaction, Handler<TransactionResults> handler);
void start_client_exists(ClientRef client, std::string path, Handler<Existence> handler);
void start_client_exists_and_watch(ClientRef client, std::string path, Handler<Existence, Watch> handler);
void start_client_get_data(ClientRef client, std::string path, GetDataOptions options, Handler<DataResult> handler);
void start_client_get_data_and_watch(ClientRef client, std::string path, Handler<DataResult, Watch> handler);
void start_client_get_children(ClientRef client, std::string path, Handler<ChildrenResult> handler);
void start_client_get_children_and_watch(ClientRef client, std::string path, Handler<ChildrenResult, Watch> handler);
void start_client_get_acl(ClientRef client, std::string path, Handler<AclResult> handler);
void start_client_set_acl(ClientRef client, std::string path, Acl acl, std::int32_t acl_version, Handler<> handler);
void start_client_sync(ClientRef client, std::string path, Handler<> handler);
}  // namespace detail

/// The operations of a Client, carried out over as many sessions as it takes. Each operation
///   - waits for a connection: at most for ClientConfig::connection_timeout (then Error::not_connected, never sent),
///     and at most for ClientConfig::operation_timeout in all, retries included (then Error::timed_out; not_connected
///     if there was no connection all that time);
///   - is refused with Error::too_many_operations, never sent, while ClientConfig::max_outstanding others are under
///     way;
///   - is repeated after a retryable error, above all a lost link or an expired session, as ClientConfig::retry says,
///     and within ClientConfig::max_retries_per_second;
///   - is not done twice where that would matter. After a lost reply a protected create first looks for its node. The
///     operations that may be repeated are repeated: reads; idempotent() and or_set_data() creates; removes; writes of
///     data and ACLs. A repeated write may then hit what another client has created or written meanwhile. It fails with
///     the ambiguous error where the node's state does not tell. Any other create, and a transaction, is not repeated
///     and fails with the ambiguous error. docs/client.md has the table;
///   - otherwise behaves like the operation of Session with the same name: arguments, errors, cancellation, threads.
///     Once the Client is closed, it fails with Error::closed, never sent, also if it has been waiting for a
///     connection.
///
/// Threads: any thread may call anything.
class ClientOperations {
 public:
  /// Creates a node. With several sessions, it uses the session of `path`, whatever name the node gets.
  ///
  /// Signature     void(error_code, CreateResult)
  /// Errors        as Session::async_create
  template <asio::completion_token_for<void(error_code, CreateResult)> Token = asio::deferred_t>
  auto async_create(std::string path, std::string data, CreateOptions options, Token&& token = {}) const {
    return detail::initiate<void(error_code, CreateResult), &detail::start_client_create>(
        std::forward<Token>(token), ref_, std::move(path), std::move(data), std::move(options));
  }
  /// As above, with the defaults: a persistent node.
  ///
  /// Signature     void(error_code, CreateResult)
  template <asio::completion_token_for<void(error_code, CreateResult)> Token>
  auto async_create(std::string path, std::string data, Token&& token) const {
    return async_create(std::move(path), std::move(data), CreateOptions{}, std::forward<Token>(token));
  }
  auto async_create(std::string path, std::string data) const {
    return async_create(std::move(path), std::move(data), CreateOptions{});
  }

  /// Deletes a node.
  ///
  /// Signature     void(error_code)
  /// Errors        as Session::async_remove
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_remove(std::string path, RemoveOptions options, Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_client_remove>(std::forward<Token>(token), ref_,
                                                                            std::move(path), options);
  }
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_remove(std::string path, Token&& token = {}) const {
    return async_remove(std::move(path), RemoveOptions{}, std::forward<Token>(token));
  }

  /// Replaces a node's data.
  ///
  /// Signature     void(error_code, Stat)
  /// Errors        as Session::async_set_data
  template <asio::completion_token_for<void(error_code, Stat)> Token = asio::deferred_t>
  auto async_set_data(std::string path, std::string data, SetDataOptions options, Token&& token = {}) const {
    return detail::initiate<void(error_code, Stat), &detail::start_client_set_data>(
        std::forward<Token>(token), ref_, std::move(path), std::move(data), options);
  }
  template <asio::completion_token_for<void(error_code, Stat)> Token = asio::deferred_t>
  auto async_set_data(std::string path, std::string data, Token&& token = {}) const {
    return async_set_data(std::move(path), std::move(data), SetDataOptions{}, std::forward<Token>(token));
  }

  /// Carries out all operations of the transaction or none of them. With several sessions, it uses the session of its
  /// first path.
  ///
  /// Signature     void(error_code, std::vector<TransactionResult>)
  /// Errors        as Session::async_commit
  template <asio::completion_token_for<void(error_code, TransactionResults)> Token = asio::deferred_t>
  auto async_commit(Transaction transaction, Token&& token = {}) const {
    return detail::initiate<void(error_code, TransactionResults), &detail::start_client_commit>(
        std::forward<Token>(token), ref_, std::move(transaction));
  }

  /// Reads a node's Stat; the result is empty if the node does not exist.
  ///
  /// Signature     void(error_code, std::optional<Stat>)
  /// Errors        as Session::async_exists
  template <asio::completion_token_for<void(error_code, detail::Existence)> Token = asio::deferred_t>
  auto async_exists(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, detail::Existence), &detail::start_client_exists>(
        std::forward<Token>(token), ref_, std::move(path));
  }

  /// Signature     void(error_code, std::optional<Stat>, Watch); the watch ends with the session it was set on.
  template <asio::completion_token_for<void(error_code, detail::Existence, Watch)> Token = asio::deferred_t>
  auto async_exists_and_watch(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, detail::Existence, Watch), &detail::start_client_exists_and_watch>(
        std::forward<Token>(token), ref_, std::move(path));
  }

  /// Reads a node's data and Stat.
  ///
  /// Signature     void(error_code, DataResult)
  /// Errors        no_node, no_auth
  template <asio::completion_token_for<void(error_code, DataResult)> Token = asio::deferred_t>
  auto async_get_data(std::string path, Token&& token = {}) const {
    return async_get_data(std::move(path), GetDataOptions{}, std::forward<Token>(token));
  }
  /// Errors        as above, and invalid_data: the data to decompress are not compressed
  template <asio::completion_token_for<void(error_code, DataResult)> Token = asio::deferred_t>
  auto async_get_data(std::string path, GetDataOptions options, Token&& token = {}) const {
    return detail::initiate<void(error_code, DataResult), &detail::start_client_get_data>(
        std::forward<Token>(token), ref_, std::move(path), options);
  }

  /// Signature     void(error_code, DataResult, Watch); the watch ends with the session it was set on.
  template <asio::completion_token_for<void(error_code, DataResult, Watch)> Token = asio::deferred_t>
  auto async_get_data_and_watch(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, DataResult, Watch), &detail::start_client_get_data_and_watch>(
        std::forward<Token>(token), ref_, std::move(path));
  }

  /// Reads the names of a node's children, and its Stat.
  ///
  /// Signature     void(error_code, ChildrenResult)
  /// Errors        no_node, no_auth
  template <asio::completion_token_for<void(error_code, ChildrenResult)> Token = asio::deferred_t>
  auto async_get_children(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, ChildrenResult), &detail::start_client_get_children>(
        std::forward<Token>(token), ref_, std::move(path));
  }

  /// Signature     void(error_code, ChildrenResult, Watch); the watch ends with the session it was set on.
  template <asio::completion_token_for<void(error_code, ChildrenResult, Watch)> Token = asio::deferred_t>
  auto async_get_children_and_watch(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, ChildrenResult, Watch), &detail::start_client_get_children_and_watch>(
        std::forward<Token>(token), ref_, std::move(path));
  }

  /// Reads a node's ACL.
  ///
  /// Signature     void(error_code, AclResult)
  /// Errors        no_node, no_auth
  template <asio::completion_token_for<void(error_code, AclResult)> Token = asio::deferred_t>
  auto async_get_acl(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, AclResult), &detail::start_client_get_acl>(std::forward<Token>(token),
                                                                                        ref_, std::move(path));
  }

  /// Replaces a node's ACL if it has this version (Stat::aversion); any_version matches every version.
  ///
  /// Signature     void(error_code)
  /// Errors        no_node, no_auth, invalid_acl, bad_version
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_set_acl(std::string path, Acl acl, std::int32_t acl_version, Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_client_set_acl>(
        std::forward<Token>(token), ref_, std::move(path), std::move(acl), acl_version);
  }

  /// Waits until the server of the path's session has caught up with the leader.
  ///
  /// Signature     void(error_code)
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_sync(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code), &detail::start_client_sync>(std::forward<Token>(token), ref_,
                                                                          std::move(path));
  }

  /// For zklock's own code.
  [[nodiscard]] const detail::ClientRef& ref() const noexcept { return ref_; }

 protected:
  explicit ClientOperations(detail::ClientRef ref) noexcept : ref_{std::move(ref)} {}
  ~ClientOperations() = default;
  ClientOperations(const ClientOperations&) = default;
  ClientOperations(ClientOperations&&) noexcept = default;
  ClientOperations& operator=(const ClientOperations&) = default;
  ClientOperations& operator=(ClientOperations&&) noexcept = default;

  detail::ClientRef ref_;
};

}  // namespace zklock

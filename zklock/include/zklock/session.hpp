// One ZooKeeper session, its operations and its watches.
#pragma once

#include <zklock/connection_state.hpp>
#include <zklock/create_mode.hpp>
#include <zklock/detail/operation.hpp>
#include <zklock/stat.hpp>
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

/// What a session is known by at the servers. Whoever has both can take it over, or end it.
struct SessionCredentials {
  std::int64_t id = 0;
  std::array<char, 16> password{};
};

struct CreateResult {
  std::string path;  ///< with the server's digits, if it was sequential
  Stat stat;
};

struct DataResult {
  std::string data;
  Stat stat;
};

/// Any version will do.
inline constexpr std::int32_t any_version = -1;

namespace detail {
class SessionCore;
asio::any_io_executor callback_executor(const SessionCore& session);

using SessionHandle = std::shared_ptr<SessionCore>;
using Children = std::vector<std::string>;

void start_create(SessionHandle session, std::string path, std::string data, CreateMode mode,
                  std::chrono::milliseconds ttl, Handler<CreateResult> handler);
void start_remove(SessionHandle session, std::string path, std::int32_t version, Handler<> handler);
void start_exists(SessionHandle session, std::string path, Handler<std::optional<Stat>> handler);
void start_exists_and_watch(SessionHandle session, std::string path, Handler<std::optional<Stat>, Watch> handler);
void start_get_data(SessionHandle session, std::string path, Handler<DataResult> handler);
void start_get_data_and_watch(SessionHandle session, std::string path, Handler<DataResult, Watch> handler);
void start_set_data(SessionHandle session, std::string path, std::string data, std::int32_t version,
                    Handler<Stat> handler);
void start_get_children(SessionHandle session, std::string path, Handler<Children> handler);
void start_get_children_and_watch(SessionHandle session, std::string path, Handler<Children, Watch> handler);
void start_sync(SessionHandle session, std::string path, Handler<> handler);
}  // namespace detail

/// A handle on one session; copies share it. It follows the session through lost links; once the session is over it
/// stays over: take a new one from the Client.
///
/// Every operation
///   - refuses a bad argument before anything is sent (Error::invalid_path, payload_too_large, ...), as a completion,
///   not an exception;
///   - while the link is down, fails with Error::connection_loss;
///   - once the session is over, fails with Error::session_expired, auth_failed or closing;
///   - completes exactly once and never inside the call that starts it;
///   - when cancelled (terminal, partial, total), completes with operation_aborted at once; what was sent may still be
///   done by the server.
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
  explicit Session(detail::SessionHandle core) noexcept : core_{std::move(core)} {}

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
  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  friend bool operator==(const Session&, const Session&) = default;

  /// Creates a node.
  ///
  /// Signature     void(error_code, CreateResult)
  /// Errors        no_node (no parent), node_exists, no_children_for_ephemerals, no_auth; invalid_create_mode for the
  ///               modes with a time to live, which take one more argument
  template <asio::completion_token_for<void(error_code, CreateResult)> Token = asio::deferred_t>
  auto async_create(std::string path, std::string data, CreateMode mode, Token&& token = {}) const {
    return initiate_create(std::move(path), std::move(data), mode, std::chrono::milliseconds{0},
                           std::forward<Token>(token));
  }

  /// Creates a node that the server deletes once it has been unchanged and childless for `ttl`, 1 ms to 2^40 ms.
  ///
  /// Signature     void(error_code, CreateResult)
  /// Errors        as above, and unimplemented: the server must run with zookeeper.extendedTypesEnabled;
  ///               invalid_create_mode for the modes without a time to live; invalid_timeout
  template <asio::completion_token_for<void(error_code, CreateResult)> Token = asio::deferred_t>
  auto async_create(std::string path, std::string data, CreateMode mode, std::chrono::milliseconds ttl,
                    Token&& token = {}) const {
    return initiate_create(std::move(path), std::move(data), mode, ttl, std::forward<Token>(token));
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
  /// Errors        no_node, no_auth
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
  /// Signature     void(error_code, std::vector<std::string>)
  /// Errors        no_node, no_auth
  template <asio::completion_token_for<void(error_code, std::vector<std::string>)> Token = asio::deferred_t>
  auto async_get_children(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, std::vector<std::string>), &detail::start_get_children>(
        std::forward<Token>(token), core_, std::move(path));
  }

  /// As async_get_children, and watches for the node's deletion and for children that come and go; no watch is left
  /// where there is no node.
  ///
  /// Signature     void(error_code, std::vector<std::string>, Watch)
  /// Errors        no_node, no_auth
  template <asio::completion_token_for<void(error_code, std::vector<std::string>, Watch)> Token = asio::deferred_t>
  auto async_get_children_and_watch(std::string path, Token&& token = {}) const {
    return detail::initiate<void(error_code, std::vector<std::string>, Watch), &detail::start_get_children_and_watch>(
        std::forward<Token>(token), core_, std::move(path));
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
  template <class Token>
  auto initiate_create(std::string path, std::string data, CreateMode mode, std::chrono::milliseconds ttl,
                       Token&& token) const {
    return detail::initiate<void(error_code, CreateResult), &detail::start_create>(
        std::forward<Token>(token), core_, std::move(path), std::move(data), mode, ttl);
  }

  detail::SessionHandle core_;
};

}  // namespace zklock

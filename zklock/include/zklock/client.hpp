// A client of a ZooKeeper ensemble: it keeps a live Session.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/connection_state.hpp>
#include <zklock/retry_policy.hpp>
#include <zklock/session.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace spdlog {
class logger;
}

namespace zklock {

/// How to make a Client. Used with designated initialisers.
struct ClientConfig {
  /// "host:port,host:port/chroot"; see parse_connect_string.
  std::string connect_string;
  /// What to ask of the server, which grants 2 to 20 of its ticks: how long a client may be out of touch before its
  /// locks go to others. 100 ms to 24 h.
  std::chrono::milliseconds session_timeout{30'000};
  /// How long an operation that needs a connection waits for one before it fails with Error::connection_loss.
  std::chrono::milliseconds connection_timeout{15'000};
  /// When recipes try again after a failure that may pass: any policy of retry_policy.hpp, or one of yours.
  RetryPolicy retry{};
  /// Who we are, in lock nodes: 1 to 128 bytes of UTF-8, no ':' and no control characters. Empty: "<host>-<pid>-<8 hex
  /// digits>".
  std::string client_id{};
  /// Where the log lines go, those of the C client included; none: nowhere.
  std::shared_ptr<spdlog::logger> logger{};
};

namespace detail {
class ClientCore;
asio::any_io_executor callback_executor(const ClientCore& client);
void start_session(std::shared_ptr<ClientCore> client, Deadline deadline, Handler<Session> handler);
void start_close(std::shared_ptr<ClientCore> client, Handler<> handler);
}  // namespace detail

/// What recipes keep of a Client: a copyable handle on its shared state. It does not close the Client, and does not
/// keep it open.
///
/// Threads: any thread may call anything.
class ClientHandle {
 public:
  /// The serial executor of the client's I/O.
  [[nodiscard]] asio::any_io_executor get_executor() const;
  /// Where handlers run that bring no executor of their own; see Client.
  [[nodiscard]] asio::any_io_executor callback_executor() const;
  [[nodiscard]] ConnectionState state() const noexcept;
  /// The connection states from now on.
  [[nodiscard]] StateStream states() const;
  [[nodiscard]] const std::string& client_id() const noexcept;
  [[nodiscard]] const ClientConfig& config() const noexcept;
  /// The current session, connected or not; none (false) while the servers' names are looked up for the first one.
  [[nodiscard]] Session session() const;

  /// Waits for a session that is connected, at most for config().connection_timeout.
  ///
  /// Signature     void(error_code, Session)
  /// Completes     at once when the current session is connected.
  /// Errors        Error::connection_loss when the time is up, Error::auth_failed, Error::closed, operation_aborted.
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Session)> Token = asio::deferred_t>
  auto async_session(Token&& token = {}) const {
    return async_session(after(config().connection_timeout), std::forward<Token>(token));
  }

  /// As above, until `deadline`; an empty one waits for ever.
  template <asio::completion_token_for<void(error_code, Session)> Token = asio::deferred_t>
  auto async_session(Deadline deadline, Token&& token = {}) const {
    return detail::initiate<void(error_code, Session), &detail::start_session>(std::forward<Token>(token), core_,
                                                                               deadline);
  }

  /// Waits for a connection, at most for `wait`: true when there is one. Curator's blockUntilConnected.
  ///
  /// Throws boost::system::system_error: Error::auth_failed, Error::closed; would_deadlock where
  /// blocking_would_deadlock().
  [[nodiscard]] bool wait_connected(std::chrono::milliseconds wait) const;

  /// True on a thread that the client's own work needs: the I/O thread, or one that runs the given executor. Blocking
  /// calls refuse to block there.
  [[nodiscard]] bool blocking_would_deadlock() const noexcept;

 protected:
  explicit ClientHandle(std::shared_ptr<detail::ClientCore> core) noexcept : core_{std::move(core)} {}

  std::shared_ptr<detail::ClientCore> core_;
};

/// Keeps a session with the ensemble: connects when constructed, reconnects, and makes a new session when one is lost.
/// The destructor closes.
///
/// Threads: any thread may call anything but the destructor. `Client{config}` runs one thread for I/O, so that no
/// handler of yours, however slow, can starve the heartbeats and lose the locks; handlers without an executor of their
/// own run on a second thread, started at first need. Both end with the last object made from the client.
/// `Client{executor, config}` starts no thread: the executor must outlive every such object and be run without long
/// pauses, or sessions expire; handlers without an executor of their own run on it. Handlers on it may run between two
/// replies, on the thread that does the I/O, whatever other threads it has: keep them short.
///
/// The destructor waits for the handlers without an executor of their own that are still to run, and, if a server's name is
/// being looked up, for the system's resolver to give up.
class Client : public ClientHandle {
 public:
  /// Connects in the background. Throws boost::system::system_error: Error::invalid_connect_string, invalid_timeout,
  /// invalid_retry_policy, invalid_client_id.
  explicit Client(ClientConfig config);
  Client(asio::any_io_executor executor, ClientConfig config);
  ~Client();
  Client(Client&&) noexcept = default;
  Client& operator=(Client&&) = delete;

  /// Ends the session: the server deletes its ephemeral nodes, and so frees its locks, at once if it can be reached,
  /// else when the session's time is up. Whatever is under way completes with Error::closing. Bounded (some five
  /// seconds), idempotent.
  ///
  /// Signature     void(error_code)
  /// Errors        none
  /// Cancellation  none
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_close(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_close>(std::forward<Token>(token), core_);
  }

  /// Blocks until closed. On the I/O thread, and for a client on a given executor, it only starts the closing: await
  /// async_close there.
  void close();
};

}  // namespace zklock

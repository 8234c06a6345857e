// A client of a ZooKeeper ensemble, which keeps a live Session.
#pragma once

#include <zklock/acl.hpp>
#include <zklock/client_operations.hpp>
#include <zklock/clock.hpp>
#include <zklock/codec.hpp>
#include <zklock/health.hpp>
#include <zklock/observer.hpp>
#include <zklock/retry_policy.hpp>
#include <zklock/session.hpp>
#include <zklock/state_stream.hpp>

#include <boost/asio/execution_context.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace spdlog {
class logger;
}

namespace zklock {

/// The configuration of a Client. Used with designated initialisers.
struct ClientConfig {
  /// "host:port,host:port/chroot"; see parse_connect_string.
  std::string connect_string{};
  /// The session timeout to ask for; the server grants 2 to 20 of its ticks. It is how long a client may be out of
  /// touch before its locks go to other clients. 100 ms to 24 h.
  std::chrono::milliseconds session_timeout{30'000};
  /// How long an operation waits for a connection before it fails with Error::not_connected.
  std::chrono::milliseconds connection_timeout{15'000};
  /// How long one of the client's own operations, or a list of participants, may take, retries included, before it
  /// fails with Error::timed_out; milliseconds::max() for ever. An acquire has its own deadline.
  std::chrono::milliseconds operation_timeout{60'000};
  /// When to repeat an operation after a retryable error: a policy of retry_policy.hpp, or the program's own.
  RetryPolicy retry{};
  /// The most retries per second, for all operations of the client together. The limit keeps many retries from
  /// overloading servers that have just come back.
  int max_retries_per_second = 100;
  /// The most operations of the client that may be under way at once. Another one fails with Error::too_many_operations
  /// and is not begun. Not for locks, nor for guaranteed deletes.
  std::size_t max_outstanding = 100'000;
  /// While a reply is due, the executor does not sleep for this long after the last request, but polls for the reply.
  /// The reply is seen sooner, and a processor is busy meanwhile. 0 to 1 ms; 0 never polls.
  std::chrono::microseconds busy_poll{0};
  /// After a lost connection the client waits for a random time of up to this before it tries the next server. So the
  /// clients of a server that has failed do not all come to the next one at once: for a fleet of thousands, set it to
  /// about a second. Later tries wait longer in any case. 0 or more; at most a quarter of the session timeout is used.
  std::chrono::milliseconds reconnect_jitter{20};
  /// The number of sessions. The server handles each session as one ordered stream; several sessions do more at once.
  /// Each path, a lock's path above all, always uses the same session. 1 to 64.
  std::size_t sessions = 1;
  /// The client's credentials; sent with each connection.
  std::vector<AuthInfo> auth{};
  /// The ACLs of new nodes; none: everybody may do everything.
  AclProvider acl_provider{};
  /// Encodes data that are to be compressed; none: gzip, like Curator.
  std::shared_ptr<const Codec> codec{};
  /// The largest data, in bytes, that data may be decoded to; more is Error::invalid_data. A node of 1 MB may hold a
  /// thousand times as many zeros, and any client that may write may choose them. gzip stops there; a codec of the
  /// program's own should have a limit, too.
  std::size_t max_decoded = std::size_t{16} * 1024 * 1024;
  /// The servers' jute.maxbuffer: the largest request, in bytes, that they accept. zklock refuses a larger one, since
  /// the servers would drop the connection.
  std::size_t max_buffer = 1'048'575;
  /// The client's name in the data of lock nodes: 1 to 128 bytes of UTF-8, without ':' and control characters. Empty:
  /// "<host>-<pid>-<8 hex digits>".
  std::string client_id{};
  /// The logger, also for the C client's messages; none: nothing is logged.
  std::shared_ptr<spdlog::logger> logger{};
  /// They hear of requests, retries, states and clean-up, and, if they are also LockObservers, of locks.
  std::vector<std::shared_ptr<Observer>> observers{};
  /// A waiter for a lock that has waited for this long says so in the log, with the client that holds the lock; again
  /// after ten times that, and so on. 0: never.
  std::chrono::milliseconds slow_wait{5'000};
  /// The directory in which the client notes what must be done exactly once: docs/transactions.md. It is relative to the
  /// namespace, as all paths are, and must not be the root.
  std::string ledger_path{"/zklock/ledger"};
};

namespace detail {
void start_session(ClientRef client, std::string path, Deadline deadline, Handler<Session> handler);
void start_close(ClientRef client, Handler<> handler);
struct ClientAccess;
class SharedState;
}  // namespace detail

/// A callback on connection states; it is called until the subscription is destroyed.
class [[nodiscard]] StateSubscription {
 public:
  StateSubscription() noexcept = default;
  explicit StateSubscription(std::shared_ptr<void> subscription) noexcept : subscription_{std::move(subscription)} {}
  /// Afterwards no other call begins; a call that runs on another thread may still run.
  void cancel() noexcept { subscription_.reset(); }

 private:
  std::shared_ptr<void> subscription_;
};

/// A copyable handle on a Client's shared state, for recipes. It neither closes the Client nor keeps it open.
///
/// Threads: any thread may call anything.
class ClientHandle : public ClientOperations {
 public:
  explicit ClientHandle(detail::ClientRef ref) noexcept : ClientOperations{std::move(ref)} {}

  /// The serial executor of the client's I/O.
  [[nodiscard]] asio::any_io_executor get_executor() const;
  /// The executor of handlers that bring none of their own; see Client.
  [[nodiscard]] asio::any_io_executor callback_executor() const;
  [[nodiscard]] const std::string& client_id() const noexcept;
  [[nodiscard]] const ClientConfig& config() const noexcept;

  /// Returns a handle whose paths are below "/<name>" (Curator's usingNamespace); "" leaves the namespace. The
  /// namespace's node is created, as a container, when the handle, a transaction of it or a recipe first creates
  /// something in it. A Session creates nothing by itself: its creates fail with no_node until then.
  ///
  /// Throws boost::system::system_error with Error::invalid_path.
  [[nodiscard]] ClientHandle using_namespace(std::string name) const;

  /// The state of all sessions together: the worst one, so that whatever it allows is true for every path.
  [[nodiscard]] ConnectionState state() const;
  /// A stream of the connection states from now on. Each session's end shows as `lost`.
  [[nodiscard]] StateStream states() const;
  /// The same for the session of `path`.
  [[nodiscard]] StateStream states(const std::string& path) const;
  /// Calls `callback` with the current state and each later one, until the subscription is destroyed: on
  /// callback_executor(), one call at a time. Throws boost::system::system_error with Error::invalid_handler if
  /// `callback` is empty.
  [[nodiscard]] StateSubscription subscribe(std::function<void(ConnectionState)> callback) const;

  /// The current session of `path`, connected or not. Empty (false) while the servers' names are looked up for the
  /// first session.
  [[nodiscard]] Session session(const std::string& path = "/") const;

  /// Waits until the session of `path` is connected, at most for config().connection_timeout.
  ///
  /// Signature     void(error_code, Session)
  /// Completes     at once when the current session is connected.
  /// Errors        Error::not_connected when the time has passed, Error::auth_failed, Error::closed, operation_aborted.
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Session)> Token = asio::deferred_t>
  auto async_session(std::string path, Token&& token = {}) const {
    return async_session(std::move(path), after(config().connection_timeout), std::forward<Token>(token));
  }

  /// As above, until `deadline`; an empty deadline waits for ever.
  template <asio::completion_token_for<void(error_code, Session)> Token = asio::deferred_t>
  auto async_session(std::string path, Deadline deadline, Token&& token = {}) const {
    return detail::initiate<void(error_code, Session), &detail::start_session>(std::forward<Token>(token), ref_,
                                                                               std::move(path), deadline);
  }

  /// As above, for the path "/": with one session, for that session.
  template <asio::completion_token_for<void(error_code, Session)> Token = asio::deferred_t>
  auto async_session(Token&& token = {}) const {
    return async_session(std::string{"/"}, std::forward<Token>(token));
  }
  template <asio::completion_token_for<void(error_code, Session)> Token = asio::deferred_t>
  auto async_session(Deadline deadline, Token&& token = {}) const {
    return async_session(std::string{"/"}, deadline, std::forward<Token>(token));
  }

  /// Blocks until every session is connected, at most for `wait`, also if nothing runs the client's executor. True when
  /// all are connected. Curator's blockUntilConnected.
  ///
  /// Throws boost::system::system_error: Error::auth_failed, Error::closed; blocking_in_handler where
  /// blocking_would_deadlock().
  [[nodiscard]] bool wait_connected(std::chrono::milliseconds wait) const;

  /// How the client does, as far as it knows: asks no server. For health checks and metrics.
  [[nodiscard]] ClientHealth health() const;

  /// Says, for people to read, why some session is not connected: to which servers, for how long, and the last cause;
  /// or that nothing has run the client's executor yet. Empty if all are connected.
  [[nodiscard]] std::string connection_trouble() const;

  /// True on a thread that the client's own work needs: the I/O thread, or a thread that runs the given executor.
  /// Blocking calls refuse to block there.
  [[nodiscard]] bool blocking_would_deadlock() const noexcept;
  /// The path at the servers, with chroot and namespace.
  [[nodiscard]] std::string server_path(const std::string& path) const;
  /// The state that recipes share among their objects on this client.
  [[nodiscard]] detail::SharedState& shared_state() const;

  /// True in a child process that was forked from the client's process. Nothing works there: destructors do nothing,
  /// and everything else throws boost::system::system_error with Error::used_after_fork.
  [[nodiscard]] bool in_forked_child() const noexcept;
};

/// Keeps one session with the ensemble, or several. It connects when constructed, reconnects, and makes a new session
/// when one is lost. The destructor closes the client.
///
/// Threads: any thread may call anything but the destructor. `Client{config}` runs one thread for I/O; handlers without
/// an executor of their own run on a second thread, which starts when it is first needed. Both threads end with the
/// last object made from the client. `Client{executor, config}` starts no thread: the I/O is done on a strand of the
/// executor, and handlers without an executor of their own run on the executor. The executor must outlive all such
/// objects and run without long pauses, or sessions expire. Blocking calls that wait while nothing runs it fail with
/// Error::executor_not_running.
///
/// Handlers are posted to their executors, so that a slow handler cannot hold up the I/O and lose the locks. A handler
/// whose executor is the system_executor (that of use_future), or an executor that runs functions where it is called,
/// goes by way of the callback executor. There are two exceptions. If the given executor has one thread, any work on it
/// holds up the I/O. And a handler bound to get_executor() itself runs between two replies: keep it short.
///
/// An exception from a handler goes to the code that runs its executor: io_context::run() throws it, and the client
/// goes on. The client's own threads, like those of a thread_pool, do not catch it, and std::terminate ends the
/// process.
///
/// The destructor closes the client, which takes five seconds at most. It then waits for the handlers without an
/// executor of their own that are still to run. On a given executor it only begins to close; see close().
class Client : public ClientHandle {
 public:
  /// Connects in the background. Throws boost::system::system_error: Error::invalid_connect_string, invalid_timeout,
  /// invalid_retry_policy, invalid_client_id, invalid_path (ledger_path), bad_arguments (sessions,
  /// max_retries_per_second, max_outstanding, max_buffer, busy_poll, reconnect_jitter).
  explicit Client(ClientConfig config);
  Client(asio::any_io_executor executor, ClientConfig config);
  /// On the executor of an io_context, or of another context.
  template <std::derived_from<asio::execution_context> Context>
  Client(Context& context, ClientConfig config) : Client{context.get_executor(), std::move(config)} {}
  /// With the defaults: Client{"zk1:2181,zk2:2181"}, Client{context, "zk1:2181,zk2:2181"}.
  template <std::convertible_to<std::string> Text>
  explicit Client(const Text& connect_string) : Client{ClientConfig{.connect_string = connect_string}} {}
  template <class Where, std::convertible_to<std::string> Text>
  Client(Where&& where, const Text& connect_string)
      : Client{std::forward<Where>(where), ClientConfig{.connect_string = connect_string}} {}
  ~Client();
  Client(Client&&) noexcept = default;
  Client& operator=(Client&&) = delete;

  /// Uses these servers from now on. Sessions go on: a connection to a server that is not among them is replaced by
  /// another one. The chroot must be that of the constructor, or be left out. Does nothing once the client is closed.
  ///
  /// Throws boost::system::system_error with Error::invalid_connect_string.
  void update_server_list(const std::string& connect_string);

  /// Ends the sessions: the server deletes their ephemeral nodes, and so frees their locks. For a session without a
  /// connection, and for a lost one that the servers may still have, the client first looks for a server. All this
  /// takes five seconds at most: a session that cannot be reached in that time keeps its nodes until the session
  /// timeout has passed. Operations under way complete at once: with Error::closing if they were sent, with
  /// Error::closed if not. Idempotent; an abort() cuts it short.
  ///
  /// Signature     void(error_code)
  /// Errors        none
  /// Cancellation  none
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_close(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_close>(std::forward<Token>(token), ref_);
  }

  /// Blocks until the client is closed. On the I/O thread, and for a client on a given executor, it only starts to
  /// close: await async_close there.
  void close();

  /// Like close, but does not tell the servers: the connections are cut, and ephemeral nodes stay until the session
  /// timeout has passed. Quick, whatever the servers do.
  void abort();

 private:
  friend struct detail::ClientAccess;
  explicit Client(std::shared_ptr<detail::ClientCore> core) noexcept;
  void close_with(void (*start)(detail::ClientRef, detail::Handler<>));
};

}  // namespace zklock

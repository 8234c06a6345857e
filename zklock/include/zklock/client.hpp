// A client of a ZooKeeper ensemble: it keeps a live Session.
#pragma once

#include <zklock/acl.hpp>
#include <zklock/client_operations.hpp>
#include <zklock/clock.hpp>
#include <zklock/codec.hpp>
#include <zklock/connection_state.hpp>
#include <zklock/retry_policy.hpp>
#include <zklock/session.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace spdlog {
class logger;
}

namespace zklock {

/// How to make a Client. Used with designated initialisers.
struct ClientConfig {
  /// "host:port,host:port/chroot"; see parse_connect_string.
  std::string connect_string{};
  /// What to ask of the server, which grants 2 to 20 of its ticks: how long a client may be out of touch before its
  /// locks go to others. 100 ms to 24 h.
  std::chrono::milliseconds session_timeout{30'000};
  /// How long an operation that needs a connection waits for one before it fails with Error::not_connected.
  std::chrono::milliseconds connection_timeout{15'000};
  /// How long one of the client's own operations may take, retries included, before it fails with Error::timed_out;
  /// milliseconds::max() for ever. Not for locks: waiting for one has its own deadline.
  std::chrono::milliseconds operation_timeout{60'000};
  /// When to try again after a failure that may pass: any policy of retry_policy.hpp, or one of yours.
  RetryPolicy retry{};
  /// No more retries a second than this, for all operations of the client together, so that a crowd of them does not
  /// bring down the servers that have just come back.
  int max_retries_per_second = 100;
  /// No more of the client's own operations than this under way at once: another one fails with
  /// Error::too_many_operations, and is not begun. Not for locks, nor for guaranteed deletes.
  std::size_t max_outstanding = 100'000;
  /// While an answer is awaited the executor does not go to sleep for so long after the last request, but looks for it
  /// again and again: it is there sooner, and a processor is busy meanwhile. 0 to 1 ms; 0 never looks so.
  std::chrono::microseconds busy_poll{0};
  /// After a lost connection the next server is tried after a random time of up to this, so that all the clients of a
  /// server that has died do not come to the next one at once: for a fleet of thousands make it a second or so. Later
  /// tries wait longer by themselves. 0 and more; a quarter of the session timeout at most is used.
  std::chrono::milliseconds reconnect_jitter{20};
  /// How many sessions to keep. A session is one ordered stream in the server: several do more at once. Each path, a
  /// lock's above all, always uses the same one. 1 to 64.
  std::size_t sessions = 1;
  /// Who we are to the servers; proven with each connection.
  std::vector<AuthInfo> auth{};
  /// Who may do what with new nodes; none: everybody everything.
  AclProvider acl_provider{};
  /// What compressed data go through; none: gzip, as Curator's.
  std::shared_ptr<const Codec> codec{};
  /// The servers' jute.maxbuffer: the largest request, in bytes, that they take. A larger one is refused here, since
  /// they would drop the connection.
  std::size_t max_buffer = 1'048'575;
  /// Who we are, in lock nodes: 1 to 128 bytes of UTF-8, no ':' and no control characters. Empty: "<host>-<pid>-<8 hex
  /// digits>".
  std::string client_id{};
  /// Where the log lines go, those of the C client included; none: nowhere.
  std::shared_ptr<spdlog::logger> logger{};
};

namespace detail {
void start_session(ClientRef client, std::string path, Deadline deadline, Handler<Session> handler);
void start_close(ClientRef client, Handler<> handler);
struct ClientAccess;
class Shelf;
}  // namespace detail

/// A callback on connection states, until it is destroyed.
class [[nodiscard]] StateSubscription {
 public:
  StateSubscription() noexcept = default;
  explicit StateSubscription(std::shared_ptr<void> subscription) noexcept : subscription_{std::move(subscription)} {}
  /// After it no other call is begun; one that runs on another thread may still run.
  void cancel() noexcept { subscription_.reset(); }

 private:
  std::shared_ptr<void> subscription_;
};

/// What recipes keep of a Client: a copyable handle on its shared state. It does not close the Client, and does not
/// keep it open.
///
/// Threads: any thread may call anything.
class ClientHandle : public ClientOperations {
 public:
  explicit ClientHandle(detail::ClientRef ref) noexcept : ClientOperations{std::move(ref)} {}

  /// The serial executor of the client's I/O.
  [[nodiscard]] asio::any_io_executor get_executor() const;
  /// Where handlers run that bring no executor of their own; see Client.
  [[nodiscard]] asio::any_io_executor callback_executor() const;
  [[nodiscard]] const std::string& client_id() const noexcept;
  [[nodiscard]] const ClientConfig& config() const noexcept;

  /// A handle whose paths are below "/<name>" (Curator's usingNamespace); "" leaves the namespace. The namespace's node
  /// is made, as a container, when the handle, a transaction of it or a recipe first creates something in it. A Session
  /// does what it is asked for and nothing else: its creates fail with no_node until then.
  ///
  /// Throws boost::system::system_error with Error::invalid_path.
  [[nodiscard]] ClientHandle using_namespace(std::string name) const;

  /// Of all sessions together: the worst, so that whatever it allows holds for every path.
  [[nodiscard]] ConnectionState state() const;
  /// The connection states from now on. Each session's end shows as `lost`.
  [[nodiscard]] StateStream states() const;
  /// Those of the session that `path` uses.
  [[nodiscard]] StateStream states(const std::string& path) const;
  /// Calls `callback` with the state of now and each that follows, until the subscription is destroyed: on
  /// callback_executor(), one call at a time. Throws boost::system::system_error with Error::invalid_handler if it is
  /// empty.
  [[nodiscard]] StateSubscription subscribe(std::function<void(ConnectionState)> callback) const;

  /// The current session of `path`, connected or not; none (false) while the servers' names are looked up for the first
  /// one.
  [[nodiscard]] Session session(const std::string& path = "/") const;

  /// Waits for the session of `path` to be connected, at most for config().connection_timeout.
  ///
  /// Signature     void(error_code, Session)
  /// Completes     at once when the current session is connected.
  /// Errors        Error::not_connected when the time is up, Error::auth_failed, Error::closed, operation_aborted.
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Session)> Token = asio::deferred_t>
  auto async_session(std::string path, Token&& token = {}) const {
    return async_session(std::move(path), after(config().connection_timeout), std::forward<Token>(token));
  }

  /// As above, until `deadline`; an empty one waits for ever.
  template <asio::completion_token_for<void(error_code, Session)> Token = asio::deferred_t>
  auto async_session(std::string path, Deadline deadline, Token&& token = {}) const {
    return detail::initiate<void(error_code, Session), &detail::start_session>(std::forward<Token>(token), ref_,
                                                                               std::move(path), deadline);
  }

  /// As above, for the path "/": with one session that is the one.
  template <asio::completion_token_for<void(error_code, Session)> Token = asio::deferred_t>
  auto async_session(Token&& token = {}) const {
    return async_session(std::string{"/"}, std::forward<Token>(token));
  }
  template <asio::completion_token_for<void(error_code, Session)> Token = asio::deferred_t>
  auto async_session(Deadline deadline, Token&& token = {}) const {
    return async_session(std::string{"/"}, deadline, std::forward<Token>(token));
  }

  /// Waits until every session is connected, at most for `wait`, also if nobody runs the client's executor: true when
  /// they are. Curator's blockUntilConnected.
  ///
  /// Throws boost::system::system_error: Error::auth_failed, Error::closed; would_deadlock where
  /// blocking_would_deadlock().
  [[nodiscard]] bool wait_connected(std::chrono::milliseconds wait) const;

  /// Why some session is not connected, for people to read: to which servers, for how long, and what went wrong last;
  /// empty: all are.
  [[nodiscard]] std::string connection_trouble() const;

  /// True on a thread that the client's own work needs: the I/O thread, or one that runs the given executor. Blocking
  /// calls refuse to block there.
  [[nodiscard]] bool blocking_would_deadlock() const noexcept;
  /// The path as the servers have it: behind the chroot and the namespace.
  [[nodiscard]] std::string server_path(const std::string& path) const;
  /// What recipes share among their objects on this client.
  [[nodiscard]] detail::Shelf& shelf() const;

  /// True in a child process that was forked from the client's. Nothing works there; everything but destructors, which
  /// do nothing then, throws boost::system::system_error with Error::used_after_fork.
  [[nodiscard]] bool in_forked_child() const noexcept;
};

/// Keeps a session with the ensemble, or several: connects when constructed, reconnects, and makes a new session when
/// one is lost. The destructor closes.
///
/// Threads: any thread may call anything but the destructor. `Client{config}` runs one thread for I/O; handlers without
/// an executor of their own run on a second thread, started at first need. Both end with the last object made from the
/// client. `Client{executor, config}` starts no thread: the I/O is done on a strand of the executor, which must outlive
/// every such object and be run without long pauses, or sessions expire; handlers without an executor of their own run
/// on it.
///
/// Handlers are posted to their executors, so that none of yours, however slow, holds up the I/O and loses the locks: a
/// handler on the system_executor, that of use_future, or any that runs things where it is called goes by way of the
/// callback executor. Two exceptions: where the given executor has one thread, whatever works there holds that up; and
/// a handler bound to get_executor() itself runs between two replies: keep it short.
///
/// What a handler throws goes to whoever runs its executor: io_context::run() throws it, and the client goes on. On the
/// client's own threads, as on those of a thread_pool, nobody catches it, and std::terminate ends the process.
///
/// The destructor closes, which takes five seconds at most, and waits for the handlers without an executor of their own
/// that are still to run.
class Client : public ClientHandle {
 public:
  /// Connects in the background. Throws boost::system::system_error: Error::invalid_connect_string, invalid_timeout,
  /// invalid_retry_policy, invalid_client_id, bad_arguments (sessions, max_retries_per_second, max_outstanding,
  /// max_buffer, busy_poll, reconnect_jitter).
  explicit Client(ClientConfig config);
  Client(asio::any_io_executor executor, ClientConfig config);
  ~Client();
  Client(Client&&) noexcept = default;
  Client& operator=(Client&&) = delete;

  /// Connects to these servers from now on. Sessions live on: a connection to a server that is not among them is given
  /// up, and another one made. The chroot must be the one that the Client was made with, or left out. Once the client
  /// is closed, it does nothing.
  ///
  /// Throws boost::system::system_error with Error::invalid_connect_string.
  void update_server_list(const std::string& connect_string);

  /// Ends the sessions: the server deletes their ephemeral nodes, and so frees their locks. A session without a
  /// connection, and one that was lost and that the servers may still have, is looked for first. All that for five
  /// seconds at most: who cannot be reached in that time keeps the nodes until the session's time is up. Whatever is
  /// under way completes at once: with Error::closing what has been sent, with Error::closed what has not. Idempotent;
  /// an abort() cuts it short.
  ///
  /// Signature     void(error_code)
  /// Errors        none
  /// Cancellation  none
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_close(Token&& token = {}) {
    return detail::initiate<void(error_code), &detail::start_close>(std::forward<Token>(token), ref_);
  }

  /// Blocks until closed. On the I/O thread, and for a client on a given executor, it only starts the closing: await
  /// async_close there.
  void close();

  /// As close, but does not tell the servers: the connections are cut, and ephemeral nodes stay until the sessions'
  /// time is up. Quick, whatever the servers do.
  void abort();

 private:
  friend struct detail::ClientAccess;
  explicit Client(std::shared_ptr<detail::ClientCore> core) noexcept;
  void close_with(void (*start)(detail::ClientRef, detail::Handler<>));
};

}  // namespace zklock

// The shared state of all handles on one session.
#pragma once

#include "driver.hpp"
#include "runtime.hpp"
#include "session_validity.hpp"
#include "state_queue.hpp"

#include <zklock/acl.hpp>
#include <zklock/detail/weak_list.hpp>
#include <zklock/health.hpp>
#include <zklock/recipe_kit/observers.hpp>
#include <zklock/session.hpp>
#include <zklock/session_renewal.hpp>
#include <zklock/timer.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace spdlog {
class logger;
}

namespace zklock::detail {

struct SessionConfig {
  std::chrono::milliseconds timeout;
  std::size_t max_buffer;
  AclProvider acl_provider;
  std::shared_ptr<spdlog::logger> logger;
  std::shared_ptr<const Observers<Observer>> observers{};  ///< null: none
  std::string client_id{};
};

/// A request as the log and the observers name it.
struct RequestName {
  Operation operation;
  std::string path;
};

/// The path at the server.
[[nodiscard]] inline std::string full_path(const SessionHandle& session, const std::string& path) {
  return path == "/" && !session.prefix().empty() ? session.prefix() : session.prefix() + path;
}

/// Threads: the part marked below, any; the rest on the serial executor.
class SessionCore final : public LinkListener, public std::enable_shared_from_this<SessionCore> {
 public:
  SessionCore(std::shared_ptr<Runtime> runtime, std::shared_ptr<Driver> driver, SessionConfig config);

  void start();
  /// `closed` is called once the driver has closed its handle. Idempotent.
  void close(CloseMode mode, std::function<void()> closed = {});
  /// Called when the executor is being destroyed.
  void abandon();
  /// The listener of the one owner; called after the state is published.
  std::function<void(SessionState)> on_state;

  [[nodiscard]] Driver& driver() noexcept { return *driver_; }
  [[nodiscard]] const SessionConfig& config() const noexcept { return config_; }
  [[nodiscard]] const Observers<Observer>* observers() const noexcept { return config_.observers.get(); }
  /// Tells the listener of lapses as long as it exists.
  void attend(std::weak_ptr<LapseListener> listener);
  void log_failure(Operation operation, const std::string& path, error_code error) const;

  // any thread
  [[nodiscard]] Runtime& runtime() const noexcept { return *runtime_; }
  /// Final also when there was no answer for the session timeout and the expiry has not been processed yet: a process
  /// that was paused sees this first.
  [[nodiscard]] SessionState state() const noexcept;
  [[nodiscard]] Clock::time_point valid_until() const noexcept { return valid_until_; }
  /// Moves with each change of the link, before the replies that come with it.
  [[nodiscard]] std::uint64_t connection() const noexcept { return connection_; }
  [[nodiscard]] SessionHealth health() const;
  void begin_renewal();
  void end_renewal() noexcept { --renewals_; }
  [[nodiscard]] auto subscribe() { return states_.subscribe(runtime_); }
  [[nodiscard]] SessionCredentials credentials() const;
  [[nodiscard]] std::chrono::milliseconds timeout() const noexcept { return timeout_.load(); }

 private:
  void on_link_state(LinkState link) override;
  void on_server_ack(const ServerAck& ack) override;
  [[nodiscard]] bool is_silent() const noexcept;
  void renew();
  void renew_after(Clock::duration pause);
  void tell_lapse();
  void tell_link(SessionState state);
  void enter(SessionState state);
  void log_early_end() const;
  void end(SessionState state, CloseMode mode);
  void await_expiry();

  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<Driver> driver_;
  SessionConfig config_;
  StatePublisher<SessionState> states_{SessionState::connecting};
  std::atomic<SessionState> state_{SessionState::connecting};
  std::atomic<std::uint64_t> connection_{0};
  std::atomic<std::chrono::milliseconds> timeout_;
  mutable std::mutex credentials_mutex_;
  SessionCredentials credentials_;

  // When the last request was sent that the servers have certainly received; or one of these two values.
  static constexpr Clock::time_point never = Clock::time_point::max();
  static constexpr Clock::time_point too_long_ago = Clock::time_point::min();
  mutable std::atomic<Clock::time_point> ack_{never};
  std::atomic<Clock::time_point> last_contact_{ServerAck::none};  // the same, but it stays what it was after expiry
  Timer expiry_;

  Clock::time_point handshake_counts_from_{};
  SessionValidity proof_;
  std::atomic<Clock::time_point> valid_until_{Clock::time_point::min()};
  std::atomic<int> renewals_{0};
  std::atomic<bool> renewing_{false};  // its timer runs, or is about to
  Clock::time_point acknowledged_ = ServerAck::none;
  Timer renewal_;
  detail::WeakList<LapseListener> listeners_;
};

}  // namespace zklock::detail

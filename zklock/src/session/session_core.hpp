// What all handles on one session share.
#pragma once

#include "driver.hpp"
#include "proof_of_life.hpp"
#include "runtime.hpp"
#include "state_queue.hpp"

#include <zklock/acl.hpp>
#include <zklock/session.hpp>
#include <zklock/session_renewal.hpp>

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
};

/// The path as the server has it.
[[nodiscard]] inline std::string full_path(const SessionHandle& session, const std::string& path) {
  return path == "/" && !session.prefix().empty() ? session.prefix() : session.prefix() + path;
}

/// Threads: what is marked so, any; the rest on the serial executor.
class SessionCore final : public LinkListener, public std::enable_shared_from_this<SessionCore> {
 public:
  SessionCore(std::shared_ptr<Runtime> runtime, std::shared_ptr<Driver> driver, SessionConfig config);

  void start();
  /// `closed` is called once the driver has let go. Idempotent.
  void close(CloseMode mode, std::function<void()> closed = {});
  /// The executor has come to its end.
  void abandon();
  /// The one owner's listener; called after the state is published.
  std::function<void(SessionState)> on_state;

  [[nodiscard]] Driver& driver() noexcept { return *driver_; }
  [[nodiscard]] const SessionConfig& config() const noexcept { return config_; }
  /// For as long as there is somebody who listens.
  void attend(std::weak_ptr<LapseListener> listener);
  void log_failure(Operation operation, const std::string& path, error_code error) const;

  // any thread
  [[nodiscard]] Runtime& runtime() const noexcept { return *runtime_; }
  /// Over also when nothing has been heard for the session timeout and nobody has had the time to say so: a process
  /// that was paused sees that first.
  [[nodiscard]] SessionState state() const noexcept;
  [[nodiscard]] Clock::time_point valid_until() const noexcept { return valid_until_; }
  void begin_renewal();
  void end_renewal() noexcept { --renewals_; }
  [[nodiscard]] auto subscribe() { return states_.subscribe(runtime_); }
  [[nodiscard]] SessionCredentials credentials() const;
  [[nodiscard]] std::chrono::milliseconds timeout() const noexcept { return timeout_.load(); }

 private:
  void on_link_state(LinkState link) override;
  void on_contact(const Contact& contact) override;
  [[nodiscard]] bool is_silent() const noexcept;
  void renew();
  void renew_after(Clock::duration pause);
  void tell_lapse();
  void enter(SessionState state);
  void log_early_end() const;
  void end(SessionState state, CloseMode mode);
  void await_expiry();

  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<Driver> driver_;
  SessionConfig config_;
  StatePublisher<SessionState> states_{SessionState::connecting};
  std::atomic<SessionState> state_{SessionState::connecting};
  std::atomic<std::chrono::milliseconds> timeout_;
  mutable std::mutex credentials_mutex_;
  SessionCredentials credentials_;

  // The last thing that the servers are known to have heard from us was sent then; or one of these.
  static constexpr Clock::time_point never = Clock::time_point::max();
  static constexpr Clock::time_point too_long_ago = Clock::time_point::min();
  mutable std::atomic<Clock::time_point> contact_{never};
  Timer expiry_;

  Clock::time_point handshake_counts_from_{};
  ProofOfLife proof_;
  std::atomic<Clock::time_point> valid_until_{Clock::time_point::min()};
  std::atomic<int> renewals_{0};
  std::atomic<bool> renewing_{false};  // its timer runs, or is about to
  Clock::time_point acknowledged_ = Contact::none;
  Timer renewal_;
  std::vector<std::weak_ptr<LapseListener>> listeners_;
  std::size_t next_sweep_ = 64;  // of those who are gone, once there are so many
};

}  // namespace zklock::detail

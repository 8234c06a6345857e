// Keeps a live session: after the end of one it makes the next.
#pragma once

#include "driver.hpp"
#include "request_slots.hpp"
#include "runtime.hpp"
#include "session_core.hpp"
#include "state_queue.hpp"

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace zklock::detail {

/// Makes a SessionCore, is told its states, and makes the next one when it is over. It also closes the old session at
/// the servers, so that its nodes do not block other clients.
///
/// Threads: the part marked below, any; the rest on the serial executor.
class SessionKeeper final : public std::enable_shared_from_this<SessionKeeper> {
 public:
  struct Config {
    SessionConfig session;
    DriverOptions driver;
    DriverFactory make_driver;
    std::string named_servers;   ///< as written in the connect string
    asio::any_io_executor lane;  ///< for work that comes in large amounts
  };

  /// `on_state` is called with each state after it is published.
  SessionKeeper(std::shared_ptr<Runtime> runtime, Config config, std::function<void(ConnectionState)> on_state);

  /// Starts with the first list of servers; later lists replace it.
  void set_servers(const std::vector<std::string>& servers);
  /// How many watches the session has.
  [[nodiscard]] std::size_t watches() const { return session_ ? session_->driver().watches() : 0; }
  void await_session(Deadline deadline, std::string prefix, Handler<Session> handler);
  /// Closes all sessions, including lost ones; `closed` is called once all are closed.
  void close(CloseMode mode, std::function<void()> closed);
  /// Cuts the connections that a close still keeps.
  void cut_short();
  /// Called when the executor is being destroyed.
  void abandon();

  // any thread
  [[nodiscard]] ConnectionState state() const { return states_.get(); }
  [[nodiscard]] auto subscribe() { return states_.subscribe(runtime_); }
  [[nodiscard]] Session session(std::string prefix) const;
  [[nodiscard]] const std::shared_ptr<RequestSlots>& slots() const noexcept { return slots_; }
  [[nodiscard]] SessionHealth health() const;
  /// Why there is no connection: to which servers, for how long, and the last cause. Empty if there is one.
  [[nodiscard]] std::string trouble() const;

 private:
  struct Waiter;
  using Waiters = std::list<std::shared_ptr<Waiter>>;
  struct Retired;

  void make_session();
  void on_session_state(SessionState state);
  void retire(std::shared_ptr<SessionCore> session);
  [[nodiscard]] std::vector<std::shared_ptr<SessionCore>> sessions() const;
  void enter(ConnectionState state);
  void give_up(const std::shared_ptr<Waiter>& waiter, error_code error);
  void answer_waiters(error_code error);
  void answer_some_waiters();
  void note_loss();
  void note_trouble(std::string cause);
  void log_trouble();

  static constexpr int max_requests = 2'000;

  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<RequestSlots> slots_ = std::make_shared<RequestSlots>(runtime_, max_requests);
  Config config_;
  std::function<void(ConnectionState)> on_state_;
  StatePublisher<ConnectionState> states_{ConnectionState::connecting};
  mutable std::mutex session_mutex_;
  std::shared_ptr<SessionCore> session_;
  std::list<std::shared_ptr<Retired>> retired_;
  Waiters waiters_;                                   // each knows its place in the list
  std::optional<Clock::time_point> earlier_contact_;  // of the sessions before; also protected by the mutex
  // Also protected by the mutex: since when there is no connection, and the last cause.
  Clock::time_point out_of_touch_since_ = Clock::now();
  std::string cause_;
  std::vector<std::string> servers_;
  bool trouble_logged_ = false;
  bool connected_before_ = false;
  error_code refusal_{};  // why there will be no more sessions
};

}  // namespace zklock::detail

// Keeps one session alive, over as many sessions as it takes.
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

/// Makes a SessionCore, hears of its states, and makes the next one when it is over. What is over is closed at the
/// servers, too, so that its nodes stand in nobody's way.
///
/// Threads: what is marked so, any; the rest on the serial executor.
class SessionKeeper final : public std::enable_shared_from_this<SessionKeeper> {
 public:
  struct Config {
    SessionConfig session;
    DriverOptions driver;
    DriverFactory make_driver;
    std::string named_servers;   ///< as the connect string has them
    asio::any_io_executor lane;  ///< for what comes in crowds
  };

  /// `on_state` hears of each state after it is published.
  SessionKeeper(std::shared_ptr<Runtime> runtime, Config config, std::function<void(ConnectionState)> on_state);

  /// Starts with the first list of servers, and goes on with others.
  void set_servers(const std::vector<std::string>& servers);
  void await_session(Deadline deadline, std::string prefix, Handler<Session> handler);
  /// Closes all sessions, those that were lost among them; `closed` is called once all are.
  void close(CloseMode mode, std::function<void()> closed);
  /// Cuts the connections that a close still holds.
  void cut_short();
  /// The executor has come to its end.
  void abandon();

  // any thread
  [[nodiscard]] ConnectionState state() const { return states_.get(); }
  [[nodiscard]] auto subscribe() { return states_.subscribe(runtime_); }
  [[nodiscard]] Session session(std::string prefix) const;
  [[nodiscard]] const std::shared_ptr<RequestSlots>& slots() const noexcept { return slots_; }
  /// Why there is no connection: to which servers, for how long, what went wrong last; empty: there is one.
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
  void let_go_of(const std::shared_ptr<Waiter>& waiter, error_code error);
  void answer_waiters(error_code error);
  void answer_some_waiters();
  void note_trouble(std::string cause);
  void log_trouble();

  static constexpr int most_requests = 2'000;

  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<RequestSlots> slots_ = std::make_shared<RequestSlots>(runtime_, most_requests);
  Config config_;
  std::function<void(ConnectionState)> on_state_;
  StatePublisher<ConnectionState> states_{ConnectionState::connecting};
  mutable std::mutex session_mutex_;
  std::shared_ptr<SessionCore> session_;
  std::list<std::shared_ptr<Retired>> retired_;
  Waiters waiters_;  // each knows its place
  // Also under the mutex: since when there is no connection, and the latest reason.
  Clock::time_point out_of_touch_since_ = Clock::now();
  std::string cause_;
  std::vector<std::string> servers_;
  bool trouble_logged_ = false;
  bool connected_before_ = false;
  error_code refusal_{};  // why there will be no session any more
};

}  // namespace zklock::detail

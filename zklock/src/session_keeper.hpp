// Keeps one session alive, over as many sessions as it takes.
#pragma once

#include "driver.hpp"
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
  };

  /// `on_state` hears of each state after it is published.
  SessionKeeper(std::shared_ptr<Runtime> runtime, Config config, std::function<void(ConnectionState)> on_state);

  /// Starts with the first list of servers, and goes on with others.
  void set_servers(const std::vector<std::string>& servers);
  void await_session(Deadline deadline, std::string prefix, Handler<Session> handler);
  void close(CloseMode mode, std::function<void()> closed);
  /// The executor has come to its end.
  void abandon();

  // any thread
  [[nodiscard]] ConnectionState state() const { return states_.get(); }
  [[nodiscard]] auto subscribe() { return states_.subscribe(runtime_); }
  [[nodiscard]] Session session(std::string prefix) const;

 private:
  struct Waiter;
  struct Retired;

  void make_session();
  void on_session_state(SessionState state);
  void retire(std::shared_ptr<SessionCore> session);
  void enter(ConnectionState state);
  void answer_waiters(error_code error);

  std::shared_ptr<Runtime> runtime_;
  Config config_;
  std::function<void(ConnectionState)> on_state_;
  StatePublisher<ConnectionState> states_{ConnectionState::connecting};
  mutable std::mutex session_mutex_;
  std::shared_ptr<SessionCore> session_;
  std::list<std::shared_ptr<Retired>> retired_;
  std::list<std::shared_ptr<Waiter>> waiters_;
  bool connected_before_ = false;
  error_code refusal_{};  // why there will be no session any more
};

}  // namespace zklock::detail

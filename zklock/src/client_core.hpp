// What all handles on one Client share.
#pragma once

#include "runtime.hpp"
#include "session_core.hpp"
#include "state_queue.hpp"

#include <zklock/client.hpp>
#include <zklock/connect_string.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace zklock::detail {

/// Keeps one live SessionCore: makes it, hears of its states, and makes the next one when it is over.
///
/// Threads: what is marked so, any; the rest on the serial executor.
class ClientCore final : public std::enable_shared_from_this<ClientCore> {
 public:
  ClientCore(std::shared_ptr<Runtime> runtime, ClientConfig config);

  void start();
  void await_session(Deadline deadline, Handler<Session> handler);
  void close(Handler<> handler);

  // any thread
  [[nodiscard]] const ClientConfig& config() const noexcept { return config_; }
  [[nodiscard]] Runtime& runtime() const noexcept { return *runtime_; }
  [[nodiscard]] ConnectionState state() const { return states_.get(); }
  [[nodiscard]] auto subscribe() { return states_.subscribe(runtime_); }
  [[nodiscard]] Session session() const;

 private:
  struct Waiter;

  void resolve();
  void connect(std::vector<std::string> servers);
  void make_session(std::vector<std::string> servers);
  void on_session_state(SessionState state);
  void enter(ConnectionState state);
  void answer_waiters(error_code error);
  void finish_close();

  std::shared_ptr<Runtime> runtime_;
  ClientConfig config_;
  ConnectString target_;
  asio::ip::tcp::resolver resolver_;
  Timer resolve_again_;
  StatePublisher<ConnectionState> states_{ConnectionState::connecting};
  mutable std::mutex session_mutex_;
  std::shared_ptr<SessionCore> session_;
  std::list<std::shared_ptr<Waiter>> waiters_;
  std::vector<Handler<>> close_waiters_;
  bool connected_before_ = false;
  bool closing_ = false;
  bool closed_ = false;
  error_code failed_;
};

}  // namespace zklock::detail

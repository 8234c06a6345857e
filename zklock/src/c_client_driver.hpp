// The driver over the single-threaded ZooKeeper C client. The only part of zklock that knows it.
//
// The library's event-loop contract is in docs/driver.md; numbers in comments are those of docs/faults.md.
#pragma once

#include "driver.hpp"
#include "readiness.hpp"
#include "registry.hpp"
#include "watch_table.hpp"

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

struct _zhandle;

namespace spdlog {
class logger;
}

namespace zklock {

struct CClientOptions {
  std::vector<std::string> servers;  ///< "address:port", numeric: the library's own look-ups block (120)
  std::chrono::milliseconds session_timeout{};
  std::shared_ptr<spdlog::logger> logger;
};

class CClientDriver final : public Driver, public std::enable_shared_from_this<CClientDriver> {
 public:
  CClientDriver(asio::any_io_executor executor, CClientOptions options);
  ~CClientDriver() override;

  void start(std::weak_ptr<LinkListener> listener) override;
  RequestId submit(Request request, std::shared_ptr<ReplySink> sink, std::shared_ptr<WatchSink> watch) override;
  void forget(RequestId id) override;
  void forget_watch(const WatchSink& watch) override;
  void close(CloseMode mode, error_code reason, std::function<void()> closed) override;
  [[nodiscard]] SessionCredentials credentials() const override { return credentials_; }
  [[nodiscard]] std::chrono::milliseconds session_timeout() const override { return session_timeout_; }

 private:
  struct Pending {
    Operation operation;
    std::shared_ptr<ReplySink> sink;
    std::shared_ptr<WatchSink> watch;
    WatchTable::Id watch_entry = 0;
  };
  struct Event {  // a reply if `sink` is there, else a watch event
    std::shared_ptr<ReplySink> sink;
    Reply reply;
    std::shared_ptr<WatchSink> watch;
    WatchEventType type{};
  };
  struct Callbacks;  // what the library calls
  class CallScope;   // around each call into the library

  // requests (c_client_requests.cpp)
  error_code send(const Request& request, RequestId id, WatchTable::Id watch_entry);
  int call(const Request& request, void* context, void* watch_context);
  void answer(RequestId id, Reply reply);
  void fire(WatchTable::Id entry, WatchEventType type);
  void drop_unused_watches();
  void drop_watch(WatchTable::Id entry);
  void removed_watch(RequestId removal, int rc);
  void end(error_code reason);

  // the loop (c_client_driver.cpp)
  void poke();
  void ready(int bits);
  void turn();
  void observe();
  void deliver();
  void die(int rc);
  void back_off();
  bool connect_is_overdue();
  [[nodiscard]] Clock::duration connect_limit() const;
  void schedule(Clock::time_point due);
  void on_timer();
  [[nodiscard]] bool connected() const;
  [[nodiscard]] bool finished() const noexcept { return static_cast<bool>(end_); }

  static thread_local CClientDriver* current_;

  asio::any_io_executor executor_;
  CClientOptions options_;
  std::weak_ptr<LinkListener> listener_;
  _zhandle* handle_ = nullptr;
  SessionCredentials credentials_;
  std::chrono::milliseconds session_timeout_;

  Registry<Pending> requests_;
  Registry<WatchTable::Place> removals_;
  WatchTable watches_;
  std::vector<WatchTable::Id> unused_watches_;
  std::deque<Event> inbox_;
  std::deque<LinkState> states_;
  LinkState link_ = LinkState::disconnected;

  SocketReadiness readiness_;
  int armed_state_ = 0;
  Timer timer_;
  Clock::time_point timer_at_ = Clock::time_point::max();
  Clock::time_point due_ = Clock::time_point::max();
  Clock::time_point not_before_{};  // the back-off: no connection attempt earlier
  Clock::time_point connecting_since_ = Clock::time_point::max();
  int failures_ = 0;
  std::minstd_rand random_;

  bool poked_ = false;
  bool delivering_ = false;
  error_code end_{};  // why nothing more is done; requests complete with it
};

}  // namespace zklock

// The driver over the single-threaded ZooKeeper C client. The only part of zklock that knows it.
//
// The library's event-loop contract is in docs/driver.md. [F118] is fault 118 of docs/faults.md.
#pragma once

#include "connect_policy.hpp"
#include "driver.hpp"
#include "liveness.hpp"
#include "readiness.hpp"
#include "reply_queue.hpp"
#include "server_frames.hpp"
#include "slot_map.hpp"
#include "watch_table.hpp"

#include <zklock/timer.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct _zhandle;

namespace zklock {

class MultiCall;

class CClientDriver final : public Driver, public std::enable_shared_from_this<CClientDriver> {
 public:
  CClientDriver(asio::any_io_executor executor, DriverOptions options);
  ~CClientDriver() override;

  void start(std::weak_ptr<LinkListener> listener) override;
  RequestId submit(Request request, std::shared_ptr<ReplySink> sink, std::shared_ptr<WatchSink> watch) override;
  void forget(RequestId id) override;
  void forget_watch(const WatchSink& watch, const WatchPlace& place) override;
  void close(CloseMode mode, error_code reason, std::function<void()> closed) override;
  void abandon() override;
  void set_servers(std::vector<std::string> servers) override;
  [[nodiscard]] SessionCredentials credentials() const override { return credentials_; }
  [[nodiscard]] std::chrono::milliseconds session_timeout() const override { return session_timeout_; }
  [[nodiscard]] std::size_t watches() const override { return watches_.size(); }

 private:
  struct Pending {
    std::shared_ptr<ReplySink> sink{};
    std::shared_ptr<WatchSink> watch{};
    WatchTable::Read watching{};
    bool watches_missing = false;
    bool goes_to_leader = false;
    ReplyForm form = ReplyForm::nothing;
    Clock::time_point sent{};
    std::shared_ptr<MultiCall> multi{};
    std::optional<WatchPlace> removal{};  // of the watch there, for no sink
  };
  struct Callbacks;  // the library's callbacks
  struct Farewell;   // shared with the thread that closes
  class CallScope;   // around each call into the library

  // requests (c_client_requests.cpp; log_line and write_log: c_client_callbacks.cpp)
  error_code send(Request& request, RequestId id, bool watches);
  template <class Call>
  int transmit(RequestId id, Call call);
  int call(Request& request, RequestId id, bool watches);
  int call_create(const Request& request, void* context);
  int call_multi(Request& request, RequestId id);
  void answer_multi(RequestId id, int rc);
  void answer_from_server(RequestId id, Reply reply);
  void answer(RequestId id, Reply reply);
  void fire(const char* path, WatchEventType type);
  void drop_unused_watches();
  void drop_watch(const WatchPlace& place);
  void removed_watch(const WatchPlace& place, error_code error);
  void remove_locally(const WatchPlace& place);
  void end(error_code reason);
  void log_line(std::string_view line);
  void write_log() noexcept;

  // the end (c_client_close.cpp)
  void close_handle(CloseMode mode);
  void on_handle_closed();
  void hurry();
  void cut_short();
  void finish();

  // the loop (c_client_driver.cpp), the handle and its servers (c_client_connect.cpp)
  void open();
  void wake();
  void ready(int bits, ConnectAttempts::Failure failure = ConnectAttempts::Failure::other);
  int process(int bits);
  bool may_read();
  [[nodiscard]] FrameJudgement judge(std::span<const unsigned char> bytes);
  void give_up_connection(std::string_view why);
  void iterate();
  [[nodiscard]] bool awaits_heartbeat() const;
  int ask_interest(int& socket, int& interest, Clock::time_point& due);
  [[nodiscard]] bool tries_listed_server() const;
  void move_to_new_servers();
  [[nodiscard]] std::string connected_server() const;
  [[nodiscard]] std::string current_server() const;
  void stop();
  void observe();
  void deliver();
  void on_terminated(int rc);
  void back_off(ConnectAttempts::Failure failure);
  bool connect_is_overdue();
  void note_trouble(std::string_view cause);
  [[nodiscard]] Clock::time_point connect_overdue_at() const noexcept;
  void schedule(Clock::time_point due);
  void stay_awake();
  void on_timer();
  [[nodiscard]] bool connected() const;

  static thread_local CClientDriver* current_;

  asio::any_io_executor executor_;
  DriverOptions options_;
  std::vector<std::string> addresses_;  // the library's list: that of the options, and one more if their number is even
  bool servers_changed_ = false;
  std::weak_ptr<LinkListener> listener_;
  _zhandle* handle_ = nullptr;
  SessionCredentials credentials_;
  std::chrono::milliseconds session_timeout_;

  SlotMap<Pending> requests_;
  std::deque<RequestId> unanswered_;                          // the replies that are due, in this order
  std::deque<std::shared_ptr<MultiCall>> unanswered_multis_;  // the library writes into them until it is closed
  WatchTable watches_;
  std::vector<WatchPlace> unused_watches_;
  ReplyQueue replies_;
  LinkState link_ = LinkState::disconnected;
  std::vector<std::string> log_lines_;  // the library's, written after its call has returned

  SocketReadiness readiness_;
  int armed_state_ = 0;
  Timer timer_;
  Clock::time_point timer_at_ = Clock::time_point::max();
  Clock::time_point due_ = Clock::time_point::max();
  ConnectAttempts attempts_;
  bool cause_is_known_ = false;
  bool inside_frame_ = false;  // the library has read a part of one
  Liveness liveness_;

  bool woken_ = false;
  bool awake_ = false;
  bool is_refused_ = false;  // for want of credentials
  error_code end_{};         // no more requests: they complete with this error
  bool stopped_ = false;     // no more iterations

  // While closing, it looks for a server, tells it, and looks again if it gets no acknowledgement, until the time is
  // up.
  enum class Closing { not_yet, looking, telling, done };
  Closing closing_ = Closing::not_yet;
  std::shared_ptr<Farewell> farewell_;  // while it tells the server
  Clock::time_point close_by_ = Clock::time_point::max();
  Timer close_limit_;
  std::vector<std::function<void()>> when_closed_;
};

}  // namespace zklock

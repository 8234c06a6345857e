// The driver of a FakeEnsemble's clients: towards the core it behaves like CClientDriver.
#pragma once

#include "connect_policy.hpp"
#include "driver.hpp"
#include "fake_world.hpp"
#include "liveness.hpp"
#include "reply_queue.hpp"

#include <zklock/timer.hpp>

#include <cstddef>
#include <map>
#include <memory>

namespace zklock::testing::fake {

class Driver final : public zklock::Driver, public std::enable_shared_from_this<Driver> {
 public:
  Driver(std::shared_ptr<World> world, asio::any_io_executor executor, DriverOptions options);
  ~Driver() override;

  void start(std::weak_ptr<LinkListener> listener) override;
  RequestId submit(Request request, std::shared_ptr<ReplySink> sink, std::shared_ptr<WatchSink> watch) override;
  void forget(RequestId id) override;
  void forget_watch(const WatchSink& watch, const Place& place) override;
  void close(CloseMode mode, error_code reason, std::function<void()> closed) override;
  void abandon() override;
  void set_servers(std::vector<std::string> servers) override;
  [[nodiscard]] SessionCredentials credentials() const override { return credentials_; }
  [[nodiscard]] std::chrono::milliseconds session_timeout() const override { return timeout_; }
  [[nodiscard]] std::size_t watches() const override { return watches_.size(); }

  // messages from the ensemble
  void on_accepted(const SessionCredentials& credentials, std::chrono::milliseconds timeout);
  void on_expired();
  void on_auth_failed();
  void on_reply(RequestId id, Reply reply, std::int64_t zxid);
  void on_pong();
  void on_event(WatchEventType type, const std::string& path);
  void on_closed();
  void on_broken();
  void on_lie();
  /// To be called after several of the above.
  void deliver();

 private:
  enum class Phase { backing_off, connecting, connected, done };

  struct Pending {
    std::shared_ptr<ReplySink> sink;
    std::shared_ptr<WatchSink> watch;
    std::optional<Place> place;
    bool watches_missing = false;
    Clock::time_point sent{};
    bool goes_to_leader = false;
  };
  struct Watched {
    int reads = 0;  // the number under way
    bool is_set = false;
    bool on_missing = false;
    std::vector<std::shared_ptr<WatchSink>> sinks{};
    [[nodiscard]] bool unused() const { return reads == 0 && sinks.empty(); }
  };

  void send(std::function<void(World&, Connection&)> message, Work work = Work::other);
  void send_without_sink(std::function<void(World&, Connection&, RequestId)> message);
  void connect();
  void lose(error_code reason, ConnectAttempts::Failure failure = ConnectAttempts::Failure::other);
  void hang_up();
  void on_terminated(LinkState state, error_code reason);
  void end(error_code reason);
  void hurry();
  void finish();
  void enter(LinkState link);
  void answer(RequestId id, Reply reply);
  [[nodiscard]] bool has_room_for(const Place& place) const;
  void fire(const Place& place, WatchEventType type);
  void drop_if_unused(const Place& place);
  void unwatch(const Place& place);
  void wake();
  [[nodiscard]] std::size_t addresses() const noexcept { return options_.servers.size() | 1; }
  [[nodiscard]] bool awaits_heartbeat() const { return !end_ && phase_ == Phase::connected && requests_.empty(); }
  void schedule();
  void on_time();

  std::shared_ptr<World> world_;
  asio::any_io_executor executor_;
  DriverOptions options_;
  std::weak_ptr<LinkListener> listener_;
  std::shared_ptr<Connection> connection_;
  SessionCredentials credentials_;
  std::chrono::milliseconds timeout_;
  std::int64_t last_zxid_ = 0;

  std::map<RequestId, Pending> requests_;
  RequestId last_id_ = 0;
  std::map<Place, Watched> watches_;
  std::vector<Place> unused_;
  std::vector<Place> greeted_;  // watches that the server was asked to set again, and that are not wanted any more
  ReplyQueue replies_;
  LinkState link_ = LinkState::disconnected;

  Phase phase_ = Phase::backing_off;
  std::string server_;
  std::size_t next_server_ = 0;
  ConnectAttempts attempts_;
  Liveness liveness_;
  // The library's: when it sent and heard the last frame, whatever it was. It pings by the one, and gives the connection
  // up by the other.
  Clock::time_point last_send_{};
  Clock::time_point last_heard_{};
  Timer timer_;
  Clock::time_point timer_at_ = Clock::time_point::max();

  bool woken_ = false;
  error_code end_{};                     // why no more requests are accepted; requests complete with it
  std::optional<CloseMode> close_mode_;  // while it is closing
  Clock::time_point close_limit_ = Clock::time_point::max();
  std::vector<std::function<void()>> closed_;
};

}  // namespace zklock::testing::fake

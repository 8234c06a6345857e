// The inside of the fake ensemble: sessions, connections, and the messages between them and the drivers.
#pragma once

#include "driver.hpp"
#include "fake_tree.hpp"
#include "runtime.hpp"

#include <zklock/testing/fake_ensemble.hpp>
#include <zklock/timer.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <set>

namespace zklock::testing::fake {

class Driver;
class World;

using Place = WatchPlace;

/// A watch that a driver sets again when it reconnects. A data watch may have been set on a missing node.
struct OldWatch {
  Place place;
  bool on_missing = false;
};

/// The message of a driver that connects.
struct Greeting {
  SessionCredentials credentials{};
  std::chrono::milliseconds timeout{};
  std::vector<AuthInfo> auth{};
  std::vector<OldWatch> watches{};
  std::int64_t last_zxid = 0;
  std::string server{};
};

/// What a message costs the ensemble.
enum class Work { write, other };

/// The connection of a driver. Messages arrive in the order in which they are sent; none arrives once it is broken.
///
/// Threads: under the world's mutex. But messages to the driver run on the driver's executor without the mutex.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using ToServer = std::function<void(World&, Connection&)>;
  using ToDriver = std::function<void(Driver&)>;

  Connection(std::shared_ptr<World> world, asio::any_io_executor executor, std::weak_ptr<Driver> driver);

  /// Sends to the server: at once if that takes no time.
  void send(ToServer message, Work work = Work::other);
  /// Sends to the driver: never delivered within this call.
  void bring(ToDriver message);
  /// Breaks the connection: no more messages arrive at either end, except `last_word` at the driver.
  void break_off(ToDriver last_word = {});
  void hold(bool on);

  std::int64_t session = 0;
  Identities identities{{"ip", "127.0.0.1"}};
  [[nodiscard]] bool is_open() const noexcept { return open_; }

 private:
  template <class Message>
  struct Parcel {
    Clock::time_point due;
    Message message;
  };

  void expect_arrivals();
  void expect_deliveries();
  void deliver();

  std::shared_ptr<World> world_;
  asio::any_io_executor executor_;
  std::weak_ptr<Driver> driver_;
  std::deque<Parcel<ToServer>> inbound_;
  std::deque<Parcel<ToDriver>> outbound_;
  Timer arrival_;
  Timer delivery_;
  bool delivering_ = false;
  bool open_ = true;
  bool held_ = false;
};

/// Threads: under `mutex`, which callers from outside must lock.
class World : public std::enable_shared_from_this<World> {
 public:
  World(FakeEnsembleOptions options, asio::any_io_executor executor, std::unique_ptr<Loop> loop);

  std::mutex mutex;
  FakeEnsembleOptions options;
  FakeCounters counters;
  std::function<FakeFault(const FakeCall&)> hook;
  std::function<void()> committed;  // called after each transaction
  bool refusing = false;
  bool holding = false;

  // from the drivers, by `connection`
  void on_greeting(Connection& connection, const Greeting& greeting);
  void on_request(Connection& connection, const Request& request, std::uint64_t id, bool watches);
  /// A heartbeat of the driver, or, without an id, a ping of the library beneath it.
  void on_ping(Connection& connection, std::optional<std::uint64_t> id);
  void on_unwatch(Connection& connection, const Place& place, std::uint64_t id);
  void on_close(Connection& connection);
  /// The driver is gone without closing.
  void on_gone(Connection& connection);

  // from the test
  [[nodiscard]] std::vector<std::int64_t> session_ids() const;
  [[nodiscard]] Connection* connection_of(std::int64_t session) const {
    const auto found = sessions_.find(session);
    return found == sessions_.end() ? nullptr : found->second.connection.get();
  }
  void cut(std::int64_t session);
  void end_session(std::int64_t session);
  void commit(Changes changes);
  void shut_down();
  [[nodiscard]] FakeSession describe(std::int64_t session) const;
  [[nodiscard]] bool is_alive(std::int64_t session) const { return sessions_.contains(session); }
  [[nodiscard]] std::vector<FakeWatch> watches() const;
  [[nodiscard]] Tree& tree() noexcept { return tree_; }
  [[nodiscard]] WallTime wall_time() const;
  /// When a write that arrives then is done, after all that have come before.
  [[nodiscard]] Clock::time_point end_of_write(Clock::time_point arrives) {
    if (options.write_time == options.write_time.zero()) return arrives;
    return writes_end_ = std::max(writes_end_, arrives) + options.write_time;
  }

 private:
  struct Session {
    SessionCredentials credentials;
    std::chrono::milliseconds timeout{};
    Clock::time_point last_heard{};
    std::string server{};
    std::shared_ptr<Connection> connection{};
    std::set<Place> watches{};
  };

  [[nodiscard]] bool suffers(std::int64_t session, Connection& connection, std::string_view operation,
                             const std::string& path, bool applied);
  Session& make_session(std::chrono::milliseconds asked);
  [[nodiscard]] bool admits(const Connection& connection) const;
  void turn_away(Connection& connection, std::uint64_t id);
  Reply perform(const Request& request, const Caller& caller);
  void perform_late(const Request& request, std::int64_t session, Identities identities);
  void watch_again(Session& session, const Greeting& greeting);
  void fire(Session& session, const Change& change);
  [[nodiscard]] bool may_hear(const Connection& connection, const Change& change) const;
  void tell(Connection& connection, WatchEventType type, const std::string& path);
  [[nodiscard]] Clock::time_point end_of(const Session& session) const;
  void expect_reaping();
  void schedule(Clock::time_point due);
  void on_time();

  std::unique_ptr<Loop> loop_;  // destroyed last
  asio::any_io_executor executor_;
  Clock::time_point begin_;
  WallTime wall_begin_;
  Clock::time_point writes_end_{};
  Tree tree_;
  std::map<std::int64_t, Session> sessions_;
  std::int64_t sessions_made_ = 0;
  Timer timer_;
  Clock::time_point timer_at_ = Clock::time_point::max();
  Clock::time_point reap_at_ = Clock::time_point::max();
  bool shut_ = false;
  FakeFault last_fault_ = FakeFault::none;
};

}  // namespace zklock::testing::fake

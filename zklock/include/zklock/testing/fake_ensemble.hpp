// A ZooKeeper ensemble inside the process, with strings to pull.
#pragma once

#include <zklock/acl.hpp>
#include <zklock/client.hpp>
#include <zklock/stat.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {
class Driver;
struct DriverOptions;
}  // namespace zklock

namespace zklock::testing {

/// How a FakeEnsemble is set up. The defaults are TestServer's.
struct FakeEnsembleOptions {
  std::chrono::milliseconds tick{500};  ///< sessions may last from 2 to 20 ticks, and end on one
  std::chrono::milliseconds container_check{
      100};                              ///< how often it looks for empty containers and nodes past their time
  std::chrono::milliseconds latency{0};  ///< of each message, one way, on zklock's Clock
  bool extended_types = false;           ///< it knows nodes with a time to live
  int servers = 1;                       ///< how many addresses connect_string() has; all lead here
};

/// One request on its way through the ensemble. A client's connecting and closing count: "connect", "close".
struct FakeCall {
  std::uint64_t number = 0;  ///< 1, 2, ...
  std::int64_t session = 0;  ///< 0: of a session that is to be made
  std::string_view operation;
  std::string path;
  bool applied = false;  ///< false: it has just arrived; true: it is done, and the reply is about to leave
};

/// What becomes of a call.
enum class FakeFault {
  none,
  cut,    ///< the connection breaks: the request is lost, or, once it is applied, the reply
  expire  ///< the session ends, and the connection with it
};

struct FakeNode {
  std::string path;
  std::string data;
  Stat stat;
  Acl acl;
};

struct FakeSession {
  std::int64_t id = 0;
  std::chrono::milliseconds timeout{};
  bool connected = false;
  std::string server;  ///< the address that the client used last
};

enum class FakeWatchKind { data, children };

struct FakeWatch {
  std::int64_t session = 0;
  FakeWatchKind kind = FakeWatchKind::data;
  std::string path;

  friend auto operator<=>(const FakeWatch&, const FakeWatch&) = default;
};

struct FakeCounters {
  std::uint64_t calls = 0;  ///< the number of the last FakeCall
  std::uint64_t connections = 0;
  std::uint64_t sessions_made = 0;
  std::uint64_t sessions_expired = 0;
  std::uint64_t watch_events = 0;
  std::uint64_t pings = 0;
};

/// Answers as a ZooKeeper 3.8 server does, without one: the tree with its Stats, sessions and their expiry, ephemeral,
/// sequential and container nodes, nodes with a time to live, ACLs (world, auth, digest, ip), one-shot watches,
/// transactions. What a real one and the fake do alike is held by integration/ensemble_contract_test.cpp; what the fake
/// does not have: several servers that lag behind one another, so a read is never stale; quotas; persistent watches.
///
/// Made without an executor it keeps time on a thread of its own, and its clients may run on theirs. Made with one,
/// everything is meant to run on that: one io_context, one thread, a ManualClock.
///
/// Threads: any thread may call anything but the destructor. Clients may outlive it; they find nobody at home then.
class FakeEnsemble {
 public:
  explicit FakeEnsemble(FakeEnsembleOptions options = {});
  explicit FakeEnsemble(asio::any_io_executor executor, FakeEnsembleOptions options = {});
  ~FakeEnsemble();
  FakeEnsemble(const FakeEnsemble&) = delete;
  FakeEnsemble& operator=(const FakeEnsemble&) = delete;

  /// Addresses that nobody listens on; clients made here ask nobody else.
  [[nodiscard]] std::string connect_string() const;
  /// A Client of this ensemble; an empty connect_string becomes connect_string(), and "/chroot" is appended to it.
  [[nodiscard]] Client make_client(ClientConfig config = {});
  [[nodiscard]] Client make_client(asio::any_io_executor executor, ClientConfig config = {});
  /// For tests of the core: what such a client drives it with.
  [[nodiscard]] std::function<std::shared_ptr<Driver>(asio::any_io_executor, DriverOptions)> driver_factory();

  /// Breaks a session's connection. The client may come back at once.
  void cut(std::int64_t session);
  void cut_all();
  /// Nobody gets in until accept_connections. Those who are in stay.
  void refuse_connections();
  void accept_connections();
  /// Ends a session as if its time were up: its ephemeral nodes go, its client hears of it when it comes back.
  void expire(std::int64_t session);
  /// Replies and events, pings included, wait inside the ensemble until release_replies: what a client sends is done,
  /// and it does not hear of it.
  void hold_replies(std::int64_t session);
  void hold_all_replies();
  void release_replies();
  /// Of messages sent from now on.
  void set_latency(std::chrono::milliseconds one_way);
  /// Looks at each call, before and after it is applied, and decides its fate. It runs inside the ensemble: it must not
  /// call it; what it wants done it posts. Empty: none.
  void on_call(std::function<FakeFault(const FakeCall&)> hook);
  /// No hook, no latency, nothing held, everybody is let in.
  void heal();

  /// As an administrator's hand would: whatever the ACLs, with the watches that fire. Throw std::invalid_argument where
  /// there is no such node, or one with children.
  void set_data(const std::string& path, std::string data);
  void remove(const std::string& path);
  /// What /zookeeper/config says from now on.
  void set_config(std::string data);

  [[nodiscard]] std::vector<FakeNode> nodes() const;        ///< by path, without /zookeeper and what is under it
  [[nodiscard]] std::vector<FakeSession> sessions() const;  ///< those that live
  [[nodiscard]] bool is_alive(std::int64_t session) const;
  [[nodiscard]] std::vector<FakeWatch> watches() const;  ///< those that are set
  [[nodiscard]] FakeCounters counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zklock::testing

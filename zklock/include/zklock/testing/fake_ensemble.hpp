// A ZooKeeper ensemble inside the process, on which a test can provoke faults.
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

/// The options of a FakeEnsemble. The defaults are TestServer's.
struct FakeEnsembleOptions {
  std::chrono::milliseconds tick{500};             ///< sessions may last from 2 to 20 ticks, and end at a tick
  std::chrono::milliseconds container_check{100};  ///< how often it looks for empty containers and expired TTL nodes
  std::chrono::microseconds latency{0};            ///< of each message, one way, on zklock's Clock
  /// How long each write takes the ensemble, which does one after the other: a million divided by the writes a second
  /// that it carries. A session's later requests wait for its earlier ones.
  std::chrono::microseconds write_time{0};
  bool extended_types = false;  ///< it supports nodes with a time to live
  bool hides_events = false;    ///< of nodes that the client may not read: as servers do from 3.8.4 and 3.9.2 on, and
                                ///< Debian 12's 3.8.0 since a security update (CVE-2024-23944)
  bool refuses_exists = false;  ///< for such nodes, with no_auth: as the same servers do (ZOOKEEPER-2590)
  bool demands_credentials = false;  ///< as a server with enforce.auth.enabled
  /// When a request is carried out whose connection broke with FakeFault::late.
  std::chrono::milliseconds lateness{50};
  int servers = 1;  ///< the number of addresses in connect_string(); all lead to this ensemble
};

/// A request on its way through the ensemble. A client's connecting and closing count: "connect", "close".
struct FakeCall {
  std::uint64_t number = 0;  ///< 1, 2, ...
  std::int64_t session = 0;  ///< 0: for a session that is to be made
  std::string_view operation;
  std::string path;
  bool applied = false;  ///< false: it has just arrived; true: it is done, and the reply is about to be sent
};

/// What happens to a call.
enum class FakeFault {
  none,
  cut,    ///< the connection breaks: the request is lost, or, after it was applied, the reply
  lie,    ///< the client gets a handshake or a reply that makes no sense, in the place of the reply
  late,   ///< the connection breaks, and the request is carried out later, if its session is still alive: what a leader
          ///< of 3.8.0 does with a request of a server that its session has left [F16b]
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

struct FakeWatch {
  std::int64_t session = 0;
  WatchKind kind = WatchKind::data;
  std::string path;

  friend auto operator<=>(const FakeWatch&, const FakeWatch&) = default;
};

struct FakeCounters {
  std::uint64_t calls = 0;  ///< the number of the last FakeCall
  std::uint64_t connections = 0;
  std::uint64_t sessions_made = 0;
  std::uint64_t sessions_expired = 0;
  std::uint64_t watch_events = 0;
  std::uint64_t pings = 0;  ///< heartbeats of any kind
};

/// Behaves like a ZooKeeper 3.8 server: the tree with its Stats, sessions and their expiry, ephemeral, sequential and
/// container nodes, nodes with a time to live, ACLs (world, auth, digest, ip), one-shot watches, transactions.
/// What a real server and the fake share is held by integration/testing/ensemble_contract*_test.cpp. The fake has no
/// servers that lag behind one another, so a read is never stale; and it has no quotas and no persistent watches.
///
/// Without an executor it keeps time on its own thread, and its clients may run on theirs. With an executor everything
/// must run on that: one io_context, one thread, a ManualClock.
///
/// Threads: any thread may call anything but the destructor. Clients may outlive it; they then find no server.
class FakeEnsemble {
 public:
  explicit FakeEnsemble(FakeEnsembleOptions options = {});
  explicit FakeEnsemble(asio::any_io_executor executor, FakeEnsembleOptions options = {});
  ~FakeEnsemble();
  FakeEnsemble(const FakeEnsemble&) = delete;
  FakeEnsemble& operator=(const FakeEnsemble&) = delete;

  /// Addresses on which nothing listens; clients made here use no others.
  [[nodiscard]] std::string connect_string() const;
  /// Makes a Client of this ensemble. An empty connect_string becomes connect_string(); "/chroot" is appended to it.
  [[nodiscard]] Client make_client(ClientConfig config = {});
  [[nodiscard]] Client make_client(asio::any_io_executor executor, ClientConfig config = {});
  /// For tests of the core: the drivers of such clients.
  [[nodiscard]] std::function<std::shared_ptr<Driver>(asio::any_io_executor, DriverOptions)> driver_factory();

  /// Breaks a session's connection. The client may reconnect at once.
  void cut(std::int64_t session);
  void cut_all();
  /// Refuses new connections until accept_connections. Existing ones stay.
  void refuse_connections();
  void accept_connections();
  /// Ends a session as if its timeout had passed: its ephemeral nodes are deleted, and its client learns of it when it
  /// reconnects.
  void expire(std::int64_t session);
  /// Keeps replies and events, pings included, inside the ensemble until release_replies: the client's requests are
  /// carried out, and the client is not told.
  void hold_replies(std::int64_t session);
  void hold_all_replies();
  void release_replies();
  /// For messages that are sent from now on.
  void set_latency(std::chrono::microseconds one_way);
  /// Sets a function that sees each call, before and after it is applied, and decides what happens to it. It runs
  /// inside the ensemble and must not call it; it may post work instead. Empty: none.
  void on_call(std::function<FakeFault(const FakeCall&)> hook);
  /// Removes the hook and the latency, releases all replies and accepts all connections.
  void heal();

  /// These act like an operator: they ignore ACLs, and watches fire. They throw std::invalid_argument if the node does
  /// not exist or has children.
  void set_data(const std::string& path, std::string data);
  void remove(const std::string& path);
  /// Replaces the data of /zookeeper/config.
  void set_config(std::string data);

  [[nodiscard]] std::vector<FakeNode> nodes() const;  ///< by path, without /zookeeper and its descendants
  /// Sets a function that sees the nodes as each transaction leaves them. It runs inside the ensemble and must not call
  /// it.
  void on_transaction(std::function<void(const std::vector<FakeNode>&)> hook);
  [[nodiscard]] std::vector<FakeSession> sessions() const;  ///< those that are alive
  [[nodiscard]] bool is_alive(std::int64_t session) const;
  [[nodiscard]] std::vector<FakeWatch> watches() const;  ///< those that are set
  [[nodiscard]] FakeCounters counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zklock::testing

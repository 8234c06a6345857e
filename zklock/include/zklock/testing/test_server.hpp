// A real ZooKeeper server for tests and trials.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::testing {

/// How to start a TestServer. The defaults suit tests: short ticks, no fsync, containers reaped at once.
struct TestServerOptions {
  std::chrono::milliseconds tick{500};             ///< sessions may last from 2 to 20 ticks
  std::chrono::milliseconds container_check{100};  ///< how often the server looks for empty containers
  std::chrono::milliseconds start_timeout{30'000};
  bool fsync = false;      ///< write the transaction log through to the disk before answering
  std::uint16_t port = 0;  ///< where to listen; 0: any port that is free
  /// More options for the JVM, such as "-Dzookeeper.extendedTypesEnabled=true". They come after our own, which make it
  /// start quickly and stay small: a benchmark may want "-XX:TieredStopAtLevel=4" and a larger "-Xmx".
  std::vector<std::string> jvm_options{};
  /// Words in front of "java": a program that sets something up and then becomes it, such as {"nice", "-n", "5"},
  /// {"env", "NAME=value"} or {"ip", "netns", "exec", "name"}.
  std::vector<std::string> launcher{};
  /// The server's classes; empty: the environment's ZKLOCK_TEST_CLASSPATH, else where Debian's packages put them.
  std::string classpath{};
};

/// A standalone ZooKeeper server of its own on a loopback port of its own, with its data in a temporary directory.
/// Curator's TestingServer is the model. It runs the `java` of PATH.
///
/// The constructor starts it and returns when it answers; the destructor kills it and removes the directory. The server
/// also dies, and the directory with it, when the process that owns it dies in any way, SIGKILL included. (A child that
/// the owner has forked counts as the owner until it executes another program.)
///
/// Errors: every function throws std::runtime_error with the end of the server's log when the server does not do what
/// it is asked to, and std::invalid_argument for an argument that makes no sense.
///
/// Threads: one thread at a time.
class TestServer {
 public:
  explicit TestServer(TestServerOptions options = {});
  ~TestServer();
  TestServer(TestServer&&) noexcept;
  TestServer& operator=(TestServer&&) noexcept;

  /// "127.0.0.1:port": what a Client connects to. It stays the same through stop and start.
  [[nodiscard]] std::string connect_string() const;
  [[nodiscard]] const std::string& address() const noexcept;
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// The server's own process; 0 while it is stopped.
  [[nodiscard]] int pid() const noexcept;
  [[nodiscard]] const std::filesystem::path& directory() const noexcept;

  /// Ends the server in good order (SIGTERM) and waits for its end. The data and the port stay.
  void stop();
  /// SIGKILL, and waits for its end. The data and the port stay; a transaction log that was being made, and has no
  /// header yet, is set aside before the next start, which would fail with it (3.8.0).
  void kill();
  /// Starts it again on the same port and data after stop or kill, or when it has ended on its own. A member of an
  /// ensemble answers then, but may not have joined it yet.
  void start();
  /// stop, then start.
  void restart();
  /// SIGSTOP: connections stay open and nobody answers. Returns when every thread of the server is at rest.
  void pause();
  /// SIGCONT.
  void resume();

  /// Ends a session now, as if its time had run out: a second connection takes the session over and closes it. Returns
  /// when the session is gone from the server's own list, with its ephemeral nodes; fine if it was gone before.
  /// The server is the one judge of sessions, so a client learns of it when it comes back to the server: it loses its
  /// connection at once, also when the password is wrong and the session stays. Of an ensemble, only the leader has the
  /// list: TestEnsemble::end_session.
  void end_session(std::int64_t session_id, std::string_view password);

  /// The answer to one of the server's four-letter words ("srvr", "mntr", "cons", ...). Throws after 5 seconds without.
  [[nodiscard]] std::string four_letter_word(std::string_view word) const;
  /// "mntr" as a table: "zk_watch_count", "zk_ephemerals_count", "zk_packets_received", ...
  [[nodiscard]] std::map<std::string, std::string> monitor() const;
  /// One number of monitor().
  [[nodiscard]] std::int64_t monitor(const std::string& key) const;

 private:
  friend class TestEnsemble;
  struct Impl;
  explicit TestServer(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zklock::testing

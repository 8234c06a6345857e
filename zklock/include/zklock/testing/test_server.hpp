// A real ZooKeeper server for tests and experiments.
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

/// The options of a TestServer. The defaults suit tests: short ticks, no fsync, containers removed at once.
struct TestServerOptions {
  std::chrono::milliseconds tick{500};             ///< sessions may last from 2 to 20 ticks
  std::chrono::milliseconds container_check{100};  ///< how often the server looks for empty containers
  std::chrono::milliseconds start_timeout{30'000};
  bool fsync = false;      ///< write the transaction log to the disk before answering
  std::uint16_t port = 0;  ///< where to listen; 0: any free port
  /// Further options for the JVM, such as "-Dzookeeper.extendedTypesEnabled=true". They follow zklock's own, which make
  /// the server start quickly and stay small: a benchmark may want "-XX:TieredStopAtLevel=4",
  /// "-XX:CompileThresholdScaling=1" and a larger "-Xmx".
  std::vector<std::string> jvm_options{};
  /// Words in front of "java": a program that sets something up and then replaces itself with the server, such as
  /// {"nice", "-n", "5"}, {"env", "NAME=value"} or {"ip", "netns", "exec", "name"}.
  std::vector<std::string> launcher{};
  /// The server's classes; empty: the environment's ZKLOCK_TEST_CLASSPATH, or else the place where Debian's packages
  /// put them.
  std::string classpath{};
};

/// A standalone ZooKeeper server of its own on a loopback port of its own, with its data in a temporary directory.
/// Modelled on Curator's TestingServer. It runs the `java` of PATH.
///
/// The constructor starts the server and returns when it answers. The destructor kills it and removes the directory.
/// The server also stops, and the directory is removed, when the process that owns it ends in any way, SIGKILL
/// included. (A child that the owner has forked counts as the owner until it executes another program.)
///
/// Where the environment's ZKLOCK_TEST_CLASS_ARCHIVE names an archive of the server's classes, which `java
/// -XX:ArchiveClassesAtExit` has written, the server starts in about half of the time.
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

  /// "127.0.0.1:port": the connect string for a Client. It stays the same after stop and start.
  [[nodiscard]] std::string connect_string() const;
  [[nodiscard]] const std::string& address() const noexcept;
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// The process id of the server itself; 0 while it is stopped.
  [[nodiscard]] int pid() const noexcept;
  [[nodiscard]] const std::filesystem::path& directory() const noexcept;

  /// Stops the server in good order (SIGTERM) and waits for its end. The data and the port stay.
  void stop();
  /// Kills the server (SIGKILL) and waits for its end. The data and the port stay. A transaction log that was just
  /// being created, and has no header yet, is set aside before the next start, which would otherwise fail (3.8.0).
  void kill();
  /// Starts the server again on the same port and data after stop or kill, or when it has ended on its own. A member of
  /// an ensemble then answers, but may not have joined the ensemble yet.
  void start();
  /// Calls stop, then start.
  void restart();
  /// SIGSTOP: connections stay open, and the server does not answer. Returns when every thread of the server has
  /// stopped.
  void pause();
  /// SIGCONT.
  void resume();

  /// Ends a session now, as if its timeout had passed: a second connection takes the session over and closes it.
  /// Returns when the session is gone from the server's own list, with its ephemeral nodes. It is not an error if it
  /// was gone before. Only the server decides about sessions, so a client learns of the end when it reconnects. The
  /// client loses its connection at once, also when the password is wrong and the session stays. In an ensemble only
  /// the leader has the list: TestEnsemble::end_session.
  void end_session(std::int64_t session_id, std::string_view password);

  /// The server's reply to a four-letter word ("srvr", "mntr", "cons", ...). Throws after 5 seconds without a reply.
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

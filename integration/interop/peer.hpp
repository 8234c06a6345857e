// Programs with locks of other libraries that do what they are told, a line for each order and each answer.
#pragma once

#include "support/fixture.hpp"
#include "support/process.hpp"

#include <string>
#include <utility>
#include <vector>

namespace zklock::test {

class Peer {
 public:
  virtual ~Peer() = default;
  std::string operator()(const std::string& order) {
    begin(order);
    return outcome();
  }
  void begin(const std::string& order) { process_.say(order); }
  std::string outcome() { return process_.line(); }
  [[nodiscard]] bool has_answered() const { return process_.has_output(); }
  [[nodiscard]] pid_t pid() const { return process_.pid(); }
  /// Returns when the process has ended.
  void kill() {
    process_.signal(SIGKILL);
    static_cast<void>(process_.wait());
  }

 protected:
  Peer(const std::string& program, std::vector<std::string> words) : process_{program, std::move(words)} {}

 private:
  Process process_;
};

/// With Curator.
class JavaPeer : public Peer {
 protected:
  JavaPeer(const std::string& program, const testing::TestServer& server, std::chrono::seconds timeout)
      : Peer{"java",
             {"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", ZKLOCK_CURATOR_CLASSES, program,
              server.connect_string(), std::to_string(timeout.count())}} {}
};

/// LockPeer.java.
class Curator : public JavaPeer {
 public:
  explicit Curator(const testing::TestServer& server, std::chrono::seconds timeout = 10s)
      : JavaPeer{"LockPeer", server, timeout} {}
};

/// NodePeer.java.
class CuratorNodes : public JavaPeer {
 public:
  explicit CuratorNodes(const testing::TestServer& server, std::chrono::seconds timeout = 10s)
      : JavaPeer{"NodePeer", server, timeout} {}
};

/// LockPeer.py.
class Kazoo : public Peer {
 public:
  explicit Kazoo(const testing::TestServer& server, std::chrono::seconds timeout = 10s)
      : Peer{ZKLOCK_PYTHON, {"-B", ZKLOCK_KAZOO_PEER, server.connect_string(), std::to_string(timeout.count())}} {}
};

/// LockPeer.cpp, with zklock's recipes.
class Zklock : public Peer {
 public:
  explicit Zklock(const testing::TestServer& server, std::chrono::seconds timeout = 10s)
      : Peer{ZKLOCK_OWN_PEER, {server.connect_string(), std::to_string(timeout.count())}} {}
};

inline Lease acquire_as(const Owner& owner, const InterProcessMutex& lock) {
  return std::get<1>(outcome_of_operation<Lease>([&](auto token) { lock.async_acquire(owner, std::move(token)); }));
}

template <class Lock>
error_code try_acquire(const Lock& lock) {
  return std::get<0>(outcome_of_operation<Lease>([&](auto token) { lock.async_acquire(0ms, std::move(token)); }));
}

}  // namespace zklock::test

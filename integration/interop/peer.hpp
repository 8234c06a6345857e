// Programs with locks of other libraries that do what they are told, a line for each order and each answer.
#pragma once

#include "support/fixture.hpp"
#include "support/process.hpp"

#include <filesystem>
#include <fstream>
#include <mutex>
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

/// LockPeer.java.
class Curator : public Peer {
 public:
  explicit Curator(const testing::TestServer& server, std::chrono::seconds timeout = 10s)
      : Peer{"java",
             {"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", ZKLOCK_CURATOR_CLASSES, "LockPeer",
              server.connect_string(), std::to_string(timeout.count())}} {}
};

/// LockPeer.py.
class Kazoo : public Peer {
 public:
  explicit Kazoo(const testing::TestServer& server, std::chrono::seconds timeout = 10s)
      : Peer{ZKLOCK_PYTHON, {"-B", ZKLOCK_KAZOO_PEER, server.connect_string(), std::to_string(timeout.count())}} {}
};

/// LockPeer.cpp, with zklock's locks.
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

/// zklock's part of a crowd, as the peers' "work". Takes the mutex that many times, and notes when it is in, for a
/// moment, and out, by its process and its node's number.
inline void work(const ClientHandle& client, const std::string& path, int times, const std::filesystem::path& log) {
  const InterProcessMutex mutex{client, path};
  std::ofstream out{log, std::ios::app};
  for (int n = 0; n < times; ++n) {
    const Lease lease = acquire(mutex);
    const std::string node = lease.node_path();
    const std::string who = std::to_string(::getpid()) + " " + node.substr(node.size() - 10) + "\n";
    out << "in " + who << std::flush;
    static_cast<void>(sync(client.session()));  // as long as others may take to come in
    out << "out " + who << std::flush;
  }
}

/// The result of a crowd's log.
struct Grants {
  int number = 0;
  int overlaps = 0;
  int overtakings = 0;  ///< grants before that of a contender that came earlier
};

/// Reads lines "in PROCESS NUMBER", "out PROCESS NUMBER", and "killed PROCESS" for a process that was killed and will
/// not say "out".
inline Grants read_grants(const std::filesystem::path& log) {
  Grants grants;
  std::ifstream lines{log};
  std::string word;
  std::string process;
  std::string inside;
  int last = -1;
  while (lines >> word >> process) {
    if (word == "killed") {
      if (inside == process) inside.clear();
      continue;
    }
    int number = 0;
    lines >> number;
    if (word == "in") {
      ++grants.number;
      if (!inside.empty()) ++grants.overlaps;
      if (number <= last) ++grants.overtakings;
      inside = process;
      last = number;
    } else {
      if (inside != process || number != last) ++grants.overlaps;
      inside.clear();
    }
  }
  return grants;
}

}  // namespace zklock::test

// Programs with other makers' locks in them, that do what they are told, a line for each order and each answer.
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
  std::string operator()(const std::string& order) {
    begin(order);
    return outcome();
  }
  void begin(const std::string& order) { process_.say(order); }
  std::string outcome() { return process_.line(); }

 protected:
  Peer(const std::string& program, std::vector<std::string> words) : process_{program, std::move(words)} {}

 private:
  Process process_;
};

/// LockPeer.java.
class Curator : public Peer {
 public:
  explicit Curator(const testing::TestServer& server)
      : Peer{"java",
             {"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", ZKLOCK_CURATOR_RECIPES_JAR, ZKLOCK_LOCK_PEER,
              server.connect_string()}} {}
};

/// LockPeer.py.
class Kazoo : public Peer {
 public:
  explicit Kazoo(const testing::TestServer& server)
      : Peer{ZKLOCK_PYTHON, {"-B", ZKLOCK_KAZOO_PEER, server.connect_string()}} {}
};

inline Lease acquire_as(const Owner& owner, const InterProcessMutex& lock) {
  return std::get<1>(outcome_of_operation<Lease>([&](auto token) { lock.async_acquire(owner, std::move(token)); }));
}

template <class Lock>
error_code try_acquire(const Lock& lock) {
  return std::get<0>(outcome_of_operation<Lease>([&](auto token) { lock.async_acquire(0ms, std::move(token)); }));
}

/// Our part of a crowd, as the peers' "work": a thread that takes the mutex so many times, and notes when it is in, for
/// a moment, and out.
inline void work(const ClientHandle& client, const std::string& path, int times, const std::filesystem::path& log) {
  InterProcessMutex mutex{client, path};
  std::ofstream out{log, std::ios::app};
  for (int n = 0; n < times; ++n) {
    const std::unique_lock guard{mutex};
    out << "in 0\n" << std::flush;
    static_cast<void>(sync(client.session()));  // as long as others may take to come in
    out << "out 0\n" << std::flush;
  }
}

/// How often a crowd has had the lock; -1 if ever two were in.
inline int count_grants(const std::filesystem::path& log) {
  std::ifstream grants{log};
  std::string word;
  int who = 0;
  int inside = -1;
  int count = 0;
  while (grants >> word >> who) {
    if (word == "in" ? inside != -1 : inside != who) return -1;
    inside = word == "in" ? who : -1;
    count += word == "in" ? 1 : 0;
  }
  return count;
}

}  // namespace zklock::test

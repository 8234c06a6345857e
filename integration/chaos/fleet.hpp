// The lock users' processes, and their links to the servers.
#pragma once

#include "cluster.hpp"
#include "record.hpp"
#include "support/frame_proxy.hpp"
#include "support/ports.hpp"
#include "support/process.hpp"
#include "worker.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zklock::chaos {

struct FleetOptions {
  std::size_t workers = 8;
  int users = 6;  ///< of each process
  std::uint64_t seed = 1;
  std::chrono::milliseconds session_timeout{2'000};
  std::uint64_t long_stays = 3;
  std::filesystem::path directory{};
  std::vector<std::string> foreign_users{};  ///< the libraries of further processes (foreign_user.hpp)
};

/// A process and its own links to each server. One process in four also has an address whose queue of connections is
/// full.
///
/// Threads: the calls that say so, any; the others, the thread that made it. The workers end with that thread.
class Fleet {
 public:
  Fleet(const Cluster& cluster, const FleetOptions& options, std::uint16_t register_port);

  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
  // any thread
  /// The process's number in the logs.
  [[nodiscard]] int process(std::size_t member) const;
  void signal(std::size_t member, int number) const;
  /// The session of the process's client; nothing when it has none.
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::string>> session(std::size_t member) const;

  /// The links of one process, or all links to one server.
  [[nodiscard]] std::vector<test::FrameProxy*> links_of(std::size_t member) const;
  [[nodiscard]] std::vector<test::FrameProxy*> links_to(std::size_t server) const;

  /// Starts others in the place of the processes that have ended, with their links, and notes which.
  void replace_dead(const Log& log);
  /// Lets all users come to their end, and when no process changes anything any more, what follows and keeps nodes.
  /// Kills the processes that do not do so in a minute each.
  void drain();
  /// Ends the processes.
  void quit(const Log& log);

  /// Notes how many connections each process has made, and at the end how many requests all have made.
  void note_connections(const Log& log) const;
  void note_requests(const Log& log) const;

 private:
  struct Member {
    std::string library{};  // empty: zklock
    int process = 0;
    std::filesystem::path log{};
    std::vector<std::unique_ptr<test::FrameProxy>> links{};
    std::unique_ptr<test::Process> program{};
  };
  void bring_to(const char* word, const std::string& mark);
  void start(Member& member);
  [[nodiscard]] std::vector<std::string> command_of(const Member& member) const;

  FleetOptions options_;
  std::uint16_t register_port_;
  test::BlackHolePort black_hole_;
  int last_process_ = 0;
  mutable std::mutex mutex_;  // guards which processes are at work
  std::vector<Member> members_;
};

}  // namespace zklock::chaos

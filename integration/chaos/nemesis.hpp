// The faults of a campaign.
#pragma once

#include "cluster.hpp"
#include "fleet.hpp"
#include "record.hpp"
#include "truce.hpp"

#include <zklock/client.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace zklock::chaos {

/// Four lanes of faults, each one after the other and with dice of its own: faults of the processes, of their links, of
/// the servers and sessions, and the changes that an operator makes to nodes. The same seed gives each lane the same
/// faults in the same order. How they meet the users depends on the machine.
///
/// Threads: its own.
class Nemesis {
 public:
  struct Options {
    std::uint64_t seed;
    std::chrono::milliseconds session_timeout;
    std::chrono::milliseconds rest;   ///< between two faults of a lane, in the mean
    std::filesystem::path directory;  ///< of the campaign
    Truces truces{};
  };
  Nemesis(Cluster& cluster, Fleet& fleet, const Log& log, const Options& options);
  ~Nemesis();
  Nemesis(const Nemesis&) = delete;

  /// Ends each lane after its current fault, and heals all faults.
  void stop();
  /// How often each kind of fault has happened.
  [[nodiscard]] std::map<std::string, int> counts() const;
  [[nodiscard]] int total() const;
  /// Why a lane has ended by itself: the campaign is not valid then. Empty: no lane has.
  [[nodiscard]] std::string failure() const;

 private:
  enum Lane { processes, links, servers, operators };
  using Dice = std::mt19937_64;

  void run(Lane lane);
  void harm_process(Dice& dice);
  void harm_links(Dice& dice);
  void silence_after_handshake(std::size_t member);
  void harm_servers(Dice& dice);
  void pause_server(Dice& dice);
  void kill_servers(Dice& dice);
  void cut_off_server(Dice& dice);
  /// After a fault of a server: waits until the servers serve. One that then goes on with another state than the
  /// others' begins anew, as an operator would let it.
  void restore_servers();
  void end_session(Dice& dice);
  void operate(Dice& dice);
  void delete_some_node(Dice& dice);
  void add_foreign_child(Dice& dice);
  void remove_left_children();
  void remove_child(const std::string& path);

  /// A process or a server, by its number, and the process that is affected. 0: all are.
  struct Target {
    std::int64_t number;
    int process = 0;
  };
  /// Notes the fault, begins it, waits, and ends it.
  void inflict(const std::string& kind, Target target, std::chrono::milliseconds length,
               const std::function<void()>& begin, const std::function<void()>& end);
  void note(Event event, const std::string& kind, Target target);
  void count(const std::string& kind);
  /// False when the campaign stops.
  bool wait(std::chrono::milliseconds length);
  [[nodiscard]] std::chrono::milliseconds elapsed() const;
  std::chrono::milliseconds some_pause(Dice& dice) const;
  static std::uint64_t below(Dice& dice, std::uint64_t limit) { return dice() % limit; }

  Cluster& cluster_;
  Fleet& fleet_;
  const Log& log_;
  Options options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Client operator_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::map<std::string, int> counts_;
  std::string failure_;
  std::vector<std::thread> lanes_;
};

}  // namespace zklock::chaos

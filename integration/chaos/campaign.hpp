// A run of the campaign: faults and lock users for a limited time.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace zklock::chaos {

struct CampaignOptions {
  std::chrono::seconds longest{200};
  /// The run ends sooner, once there have been this many of both.
  std::int64_t acquisitions = 20'000;
  int faults = 100;
  std::uint64_t seed = 1;
  int servers = 3;
  std::size_t workers = 8;
  int users = 6;
  std::size_t foreign_users =
      2;  ///< processes with another library, Curator and Kazoo in turn, as far as they are here
  std::chrono::milliseconds session_timeout{2'000};
  std::uint64_t long_stays = 3;  ///< see WorkerOptions
  /// The machine does other things, too: a server may stand still for seconds while no fault is at work.
  bool busy_machine = false;
  /// The directory of the logs.
  std::filesystem::path directory{};
};

struct CampaignOutcome {
  double seconds = 0;
  std::map<std::string, int> faults{};
};

/// Prints a line a second. Afterwards the directory has what the judge needs: the logs of the workers, of the register
/// and of the faults, and the servers' transaction logs. Throws std::exception when the run is not valid.
CampaignOutcome run_campaign(const CampaignOptions& options);

}  // namespace zklock::chaos

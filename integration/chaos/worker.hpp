// A process of the campaign: a client, and threads that use locks through it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace zklock::chaos {

struct WorkerOptions {
  std::string connect_string{};
  std::filesystem::path log{};
  std::uint16_t register_port = 0;
  int process = 0;
  int slot = 0;  ///< a process in the place of another has the same
  int users = 6;
  std::uint64_t seed = 0;
  std::chrono::milliseconds session_timeout{2'000};
  /// So many of a thousand visits are longer than a session lasts without its servers.
  std::uint64_t long_stays = 3;
};

/// Says "working" once it is connected. Lines of its input tell it what to do. At "rest" the users finish their turns,
/// nothing is changed any more, and the process makes a file "<log>.rested". At "drain" it gives up what it keeps and
/// follows, and makes a file "<log>.drained". At "quit", or at the end of its input, it closes its client and returns.
///
/// Ends with its parent.
int work(const WorkerOptions& options);

}  // namespace zklock::chaos

// What the command line says.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace zklock::tools {

/// Which ZooKeeper.
struct Where {
  std::string connect{};  ///< empty: $ZKLOCK_CONNECT
  bool dev = false;       ///< a throw-away server of our own
  bool verbose = false;
};

struct RunOptions {
  Where where{};
  std::string path{};
  std::optional<std::chrono::milliseconds> timeout{};  ///< nothing: for ever
  std::chrono::milliseconds session_timeout{10'000};
  std::chrono::milliseconds kill_after{5'000};
  std::vector<std::string> command{};
};

struct LsOptions {
  Where where{};
  std::string path{};
  bool json = false;
};

struct ServerOptions {};

using Options = std::variant<RunOptions, LsOptions, ServerOptions>;

/// How long the program tries to reach ZooKeeper before it gives up.
inline constexpr std::chrono::milliseconds connect_patience{10'000};

}  // namespace zklock::tools

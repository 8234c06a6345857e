// What the command line says.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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
  std::vector<std::string> auth{};  ///< credentials, "scheme:id"; those of $ZKLOCK_AUTH besides
  std::string auth_file{};          ///< more of them, a line each
};

/// Which lock `zklock run` takes at its path.
enum class Mode {
  mutex,
  shared,     ///< the read lock of a read/write lock
  exclusive,  ///< the write lock of one
  permit      ///< one permit of a semaphore
};

struct RunOptions {
  Where where{};
  std::string path{};
  Mode mode = Mode::mutex;
  std::int32_t permits = 1;                            ///< how many the semaphore has
  bool revocable = false;                              ///< ends its command when somebody asks for the lock
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

struct RevokeOptions {
  Where where{};
  std::string path{};
  std::optional<std::chrono::milliseconds> wait{};  ///< nothing: only asks
};

struct DoctorOptions {
  Where where{};
  std::vector<std::string> paths{};
  std::chrono::milliseconds wait{2'000};          ///< between two looks; zero: nothing is said of what moves
  std::chrono::milliseconds stuck_after{60'000};  ///< how long the next may wait before that is a problem
  std::size_t max_nodes = 10'000;
  std::size_t max_depth = 16;
  bool json = false;
};

struct ServerOptions {
  std::uint16_t port = 0;  ///< 0: any that is free
};

using Options = std::variant<RunOptions, LsOptions, RevokeOptions, DoctorOptions, ServerOptions>;

/// How long the program tries to reach ZooKeeper before it gives up.
inline constexpr std::chrono::milliseconds connect_patience{10'000};

}  // namespace zklock::tools
